# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_wirespec import line
from pqc_mav_wirespec.errors import MalformedError

DATAGRAMS = st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=700)), max_size=5)


@given(st.binary(max_size=1200))
def test_cobs_has_no_zero_and_comes_back(data):
    encoded = line.cobs_encode(data)
    assert 0 not in encoded
    assert len(encoded) <= len(data) + len(data) // 254 + 1
    assert line.cobs_decode(encoded) == data


@pytest.mark.parametrize(
    ("data", "encoded"),
    [
        ("", "01"),
        ("00", "0101"),
        ("11220033", "0311220233"),
        ("11000000", "0211010101"),
        ("11" * 254, "ff" + "11" * 254 + "01"),
    ],
)
def test_cobs_is_that_of_its_authors(data, encoded):
    assert line.cobs_encode(bytes.fromhex(data)).hex() == encoded


@pytest.mark.parametrize("encoded", ["", "00", "0311", "03110002"])
def test_what_is_no_cobs_is_refused(encoded):
    with pytest.raises(MalformedError):
        line.cobs_decode(bytes.fromhex(encoded))


def test_the_checksum_is_the_catalogued_one():
    assert line.crc16(b"123456789") == 0x6F91


@given(DATAGRAMS)
def test_any_datagrams_come_through(datagrams):
    sent = [line.Carried(*each) for each in datagrams]
    frames = b"\0" + b"".join(line.frame(*each) for each in datagrams)
    assert line.read_frames(frames) == line.Received(sent)
    messages = line.Messages()
    assert line.read_messages(b"".join(messages.write(*each) for each in datagrams)) == line.Received(sent)


@given(DATAGRAMS, st.binary(max_size=200), st.randoms(use_true_random=False))
def test_a_frame_behind_noise_comes_out(datagrams, noise, random):
    frames = b"".join(line.frame(*each) for each in datagrams)
    at = random.randrange(len(frames) + 1)
    known = line.Carried(0x85, b"known")
    received = line.read_frames(frames[:at] + noise + frames[at:] + b"\0" + line.frame(known.line, known.datagram))
    assert received.carried[-1] == known


def test_messages_are_read_by_pymavlink():
    mavlink2 = pytest.importorskip("pymavlink.dialects.v20.common")
    mav = mavlink2.MAVLink(None)
    (message,) = mav.parse_buffer(line.Messages().write(0x85, b"abc"))
    assert message.get_type() == "ENCAPSULATED_DATA"
    assert (message.get_srcSystem(), message.get_srcComponent()) == (51, 191)
    assert message.seqnr == 0x8501
    assert bytes(message.data[:4]) == b"abc\0"


@pytest.mark.parametrize("make", [line.frame, line.Messages().write])
def test_nothing_is_made_that_could_not_be_read(make):
    with pytest.raises(MalformedError):
        make(0, bytes(line.MOST + 1))
