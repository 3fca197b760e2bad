# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_wirespec.errors import MalformedError
from pqc_mav_wirespec.vectorfile import VectorFile


def test_reads_what_it_wrote():
    file = VectorFile("two\nlines")
    file.section("vector").put(kind="test", count=12, data=b"\x00\xff", empty=b"")
    file.section("second").put(text="a = b")
    again = VectorFile.parse(file.render())
    assert again.body() == file.body()
    assert again["vector"].number("count") == 12
    assert again["vector"].hex("data") == b"\x00\xff"
    assert again["vector"].hex("empty") == b""
    assert again["second"].text("text") == "a = b"


@pytest.mark.parametrize("text", ["key = 1", "[a]\nnonsense", "[a]\nk = 1\nk = 2", "[a]\n[a]"])
def test_other_lines_are_refused(text):
    with pytest.raises(MalformedError):
        VectorFile.parse(text)


def test_missing_and_mistyped_values():
    file = VectorFile.parse("[a]\nk = zz")
    for read in (file["a"].hex, file["a"].number):
        with pytest.raises(MalformedError):
            read("k")
    with pytest.raises(MalformedError, match="no other"):
        file["a"].text("other")
    with pytest.raises(MalformedError, match="no section"):
        file["b"]
