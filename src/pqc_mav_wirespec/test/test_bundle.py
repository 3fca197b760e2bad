# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_wirespec import bundle
from pqc_mav_wirespec.errors import MalformedError


@given(st.lists(st.binary(max_size=400), min_size=1, max_size=64))
def test_a_bundle_comes_back_as_it_was(datagrams):
    assert bundle.decode(bundle.encode(datagrams)) == tuple(datagrams)


def test_lengths_take_one_byte_below_128_and_two_from_there():
    assert bundle.encode([b"", b"a" * 127])[:2] == b"\x00\x7f"
    assert bundle.encode([b"a" * 128])[:2] == b"\x80\x80"
    assert bundle.encode([b"a" * 1432])[:2] == b"\x85\x98"


@pytest.mark.parametrize(
    "content", [b"", b"\x01", b"\x80", b"\x80\x80" + bytes(127), b"\x80\x7f" + bytes(127), bytes(65)]
)
def test_what_is_torn_or_written_otherwise_is_malformed(content):
    with pytest.raises(MalformedError):
        bundle.decode(content)


@pytest.mark.parametrize("datagrams", [[], [b""] * 65, [bytes(0x8000)]])
def test_no_bundle_is_made_that_could_not_be_read(datagrams):
    with pytest.raises(MalformedError):
        bundle.encode(datagrams)
