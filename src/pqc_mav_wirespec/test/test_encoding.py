# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_wirespec.encoding import FrameReader, Reader, frame, lp, u8, u16, u32, u64
from pqc_mav_wirespec.errors import MalformedError


def test_integers_are_big_endian():
    assert u8(1) + u16(2) + u32(3) + u64(4) == bytes.fromhex("01 0002 00000003 0000000000000004")


def test_lp_counts_its_value():
    assert lp(b"") == bytes(4)
    assert lp(b"abc") == b"\0\0\0\3abc"


def test_reader_names_the_field_that_is_short():
    with pytest.raises(MalformedError, match="cookie needs 4 bytes and 2 are left"):
        Reader(b"ab").take(4, "cookie")


@pytest.mark.parametrize("length", [0, 4, 2**32 - 1])
def test_lp_outside_its_limits_is_refused(length):
    with pytest.raises(MalformedError, match="expected 1 to 3"):
        Reader(u32(length) + bytes(8)).lp("name", 1, 3)


def test_bytes_behind_the_last_field_are_refused():
    reader = Reader(b"ab")
    reader.take(1, "field")
    with pytest.raises(MalformedError, match="1 bytes behind"):
        reader.end()


@given(st.binary(max_size=50), st.lists(st.integers(1, 20)))
def test_frame_arrives_in_any_pieces(body, cuts):
    whole = frame(3, body)
    reader, at, got = FrameReader({3: (0, 50)}), 0, None
    for cut in [*cuts, len(whole)]:
        if at < len(whole):
            assert got is None
            got = reader.feed(whole[at : at + cut])
            at += cut
    assert got == whole


def test_header_is_refused_before_any_body():
    for header in (u32(2**32 - 1) + u8(3), u32(4) + u8(3), u32(1) + u8(3), u32(2) + u8(4)):
        with pytest.raises(MalformedError):
            FrameReader({3: (2, 3)}).feed(header)


def test_byte_beyond_the_frame_is_refused():
    with pytest.raises(MalformedError, match="out of turn"):
        FrameReader({3: (2, 2)}).feed(frame(3, b"ab") + b"c")
