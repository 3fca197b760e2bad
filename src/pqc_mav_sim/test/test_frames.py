# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.frames import MAX_DATAGRAM, Decoder, FrameError, crc, parse_datagram

V2 = mavlink.MAVLink(None, srcSystem=7, srcComponent=42)


def attitude(yaw=0.5, seq=0):
    V2.seq = seq
    return mavlink.MAVLink_attitude_message(1, 0.0, 0.0, yaw, 0.0, 0.0, 0.0).pack(V2)


def heartbeat(v1=False):
    return mavlink.MAVLink_heartbeat_message(2, 12, 0, 0, 3, 3).pack(V2, force_mavlink1=v1)


def test_check_value_of_the_crc():
    # the catalogue's check value of CRC-16/MCRF4XX: "123456789" gives 0x6F91
    assert crc(b"12345678", ord("9")) == 0x6F91


def test_frame_and_its_fields():
    parsed = parse_datagram(attitude(seq=99))
    (frame,) = parsed.frames
    assert parsed.errors == []
    assert (frame.version, frame.name, frame.seq, frame.sysid, frame.compid) == (2, "ATTITUDE", 99, 7, 42)
    assert len(frame.payload) == 28  # the stripped zeros are back
    assert Decoder().decode(frame).yaw == pytest.approx(0.5)


def test_version_1_and_2_in_one_datagram():
    parsed = parse_datagram(heartbeat(v1=True) + attitude() + heartbeat())
    assert [f.version for f in parsed.frames] == [1, 2, 2]
    assert [f.name for f in parsed.frames] == ["HEARTBEAT", "ATTITUDE", "HEARTBEAT"]


def test_signed_frame_is_taken_whole():
    mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    mav.signing.secret_key = bytes(32)
    mav.signing.sign_outgoing = True
    raw = mavlink.MAVLink_heartbeat_message(2, 12, 0, 0, 3, 3).pack(mav)
    parsed = parse_datagram(raw + attitude())
    assert [f.signed for f in parsed.frames] == [True, False]
    assert parsed.errors == []


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"hello", FrameError.GARBAGE),
        (b"\xfd", FrameError.TRUNCATED),
        (attitude()[:-1], FrameError.TRUNCATED),
        (attitude()[:-1] + b"\x00", FrameError.BAD_CRC),
        (b"\xfd\x01\x80" + attitude()[3:], FrameError.BAD_FLAGS),
        (bytes(MAX_DATAGRAM + 1), FrameError.OVERSIZE),
        (b"\xfe\xf0\x00\x01\x01\x00" + bytes(260), FrameError.BAD_LENGTH),
    ],
)
def test_what_is_wrong_has_a_name(data, error):
    parsed = parse_datagram(data)
    assert parsed.frames == []
    assert parsed.errors[0] is error


def test_empty_datagram_is_nothing():
    parsed = parse_datagram(b"")
    assert (parsed.frames, parsed.errors) == ([], [])


def test_unknown_message_keeps_its_number():
    body = bytes([3, 0, 0, 55, 9, 1]) + (0x00FFEE).to_bytes(3, "little") + b"abc"
    raw = b"\xfd" + body + b"\x12\x34"
    parsed = parse_datagram(raw + attitude())
    assert [f.name for f in parsed.frames] == ["ATTITUDE"]
    (unknown,) = parsed.unknown
    assert (unknown.seq, unknown.sysid, unknown.name) == (55, 9, "UNKNOWN_65518")
    assert parsed.errors == [FrameError.UNKNOWN_ID]


def test_longer_payload_of_a_newer_sender_is_cut():
    message = mavlink.MAVLink_heartbeat_message(2, 12, 0, 0, 3, 3)
    raw = bytearray(message.pack(V2))
    raw[1] += 2
    raw[-2:-2] = b"\x01\x02"
    raw[-2:] = crc(bytes(raw[1:-2]), message.crc_extra).to_bytes(2, "little")
    (frame,) = parse_datagram(bytes(raw)).frames
    assert len(frame.payload) == 9


@given(st.integers(0, 29), st.integers(1, 255))
def test_every_flipped_byte_is_noticed(position, flip):
    raw = bytearray(attitude(yaw=1.0))
    position %= len(raw)
    raw[position] ^= flip
    parsed = parse_datagram(bytes(raw))
    assert parsed.frames == []
    assert parsed.errors


@settings(max_examples=300)
@given(
    st.lists(st.one_of(st.binary(max_size=60), st.sampled_from([attitude(), heartbeat(), heartbeat(True)])), max_size=8)
)
def test_good_frames_survive_any_junk_between_them(pieces):
    good = [p for p in pieces if p in (attitude(), heartbeat(), heartbeat(True))]
    parsed = parse_datagram(b"".join(pieces))
    raws = [f.raw for f in parsed.frames]
    # junk may begin with something that looks like a header, but never hides or invents a frame with a good CRC
    assert raws == good or parsed.unknown


@settings(max_examples=300)
@given(st.binary(max_size=MAX_DATAGRAM))
def test_any_bytes_are_survived(data):
    parsed = parse_datagram(data)
    decoder = Decoder()
    for frame in parsed.frames:
        decoder.decode(frame)
    if data and not parsed.frames:
        assert parsed.errors


@given(st.integers(0, 255), st.integers(0, 300))
def test_a_run_of_magic_bytes_is_cheap_and_harmless(fill, count):
    parsed = parse_datagram(bytes([0xFD]) * count + bytes([fill]) * count)
    assert len(parsed.errors) <= max(1, 2 * count)
