# SPDX-License-Identifier: Apache-2.0
import pytest
from vectorfile import HEX_BYTES, VectorFile

from pqc_mav_wirespec.errors import MalformedError


def test_reads_what_it_wrote():
    file = VectorFile("two\nlines")
    file.section("vector").put(kind="test", count=12, data=b"\x00\xff", empty=b"")
    file.section("second").put(text="a = b")
    again = VectorFile.parse(file.render())
    assert again.body() == file.body()
    assert again["vector"].number("count") == 12
    assert again["vector"].raw("data") == b"\x00\xff"
    assert again["vector"].raw("empty") == b""
    assert again["second"].text("text") == "a = b"


@pytest.mark.parametrize("text", ["key = 1", "[a]\nnonsense", "[a]\nk = 1\nk = 2", "[a]\n[a]"])
def test_other_lines_are_refused(text):
    with pytest.raises(MalformedError):
        VectorFile.parse(text)


@pytest.mark.parametrize(("size", "start"), [(HEX_BYTES, "a5a5"), (HEX_BYTES + 1, "base64:paWl")])
def test_long_bytes_are_base64(size, start):
    file = VectorFile()
    file.section("a").put(data=b"\xa5" * size)
    assert file["a"].text("data").startswith(start)
    assert VectorFile.parse(file.render())["a"].raw("data") == b"\xa5" * size


@pytest.mark.parametrize("text", ["zz", "abc", "base64:a", "base64:pa l", "base64:paW-"])
def test_bytes_in_another_form_are_refused(text):
    with pytest.raises(MalformedError, match="k is neither hex nor base64"):
        VectorFile.parse(f"[a]\nk = {text}")["a"].raw("k")


def test_missing_and_mistyped_values():
    file = VectorFile.parse("[a]\nk = zz")
    for read in (file["a"].raw, file["a"].number):
        with pytest.raises(MalformedError):
            read("k")
    with pytest.raises(MalformedError, match="no other"):
        file["a"].text("other")
    with pytest.raises(MalformedError, match="no section"):
        file["b"]
