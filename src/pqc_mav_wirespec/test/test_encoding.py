# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_wirespec.encoding import Reader, check_frame, frame, lp, u8, u16, u24, u32, u64
from pqc_mav_wirespec.errors import MalformedError


def test_integers_are_big_endian():
    assert u8(1) + u16(2) + u24(5) + u32(3) == bytes.fromhex("01 0002 000005 00000003")
    assert u64(4) == bytes.fromhex("0000000000000004")


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


@given(st.binary(min_size=2, max_size=50))
def test_a_whole_frame_passes(body):
    check_frame(frame(3, body), {3: (2, 50), 9: (1, 1)})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0\2",
        frame(4, b"ab"),
        frame(3, b"a"),
        frame(3, b"abcd"),
        frame(3, b"abc")[:-1],
        frame(3, b"ab") + b"c",
    ],
    ids=["empty", "no header", "other type", "too short", "too long", "cut", "byte behind"],
)
def test_any_other_frame_is_refused(data):
    with pytest.raises(MalformedError):
        check_frame(data, {3: (2, 3)})
