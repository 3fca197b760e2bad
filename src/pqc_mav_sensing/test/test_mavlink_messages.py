# SPDX-License-Identifier: Apache-2.0
"""The layouts against pymavlink's, field by field and byte by byte."""

from __future__ import annotations

import random

import pytest
from pymavlink.dialects.v10 import common as mavlink1
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sensing.mavlink_messages import LAYOUTS, BatteryStatus, Frame, decode, frames, interval_request

# Our field -> pymavlink's.
NAMES = {
    "relative_alt_mm": "relative_alt",
    "temperature_cdeg": "temperature",
    "voltages_mv": "voltages",
    "voltages_ext_mv": "voltages_ext",
    "current_ca": "current_battery",
    "voltage_mv": "voltage_battery",
    "remaining": "battery_remaining",
}
RANGES = {"uint8_t": (0, 255), "int8_t": (-128, 127), "uint16_t": (0, 65535), "int16_t": (-32768, 32767)}
LARGE = {"uint32_t": (0, 2**32 - 1), "int32_t": (-(2**31), 2**31 - 1), "float": (-1000, 1000), "uint64_t": (0, 2**63)}


def filled(kind: type[mavlink.MAVLink_message], rng: random.Random) -> mavlink.MAVLink_message:
    values = []
    for name, form in zip(kind.fieldnames, kind.fieldtypes, strict=True):
        low, high = {**RANGES, **LARGE}[form]
        count = kind.array_lengths[kind.ordered_fieldnames.index(name)]
        values.append([rng.randint(low, high) for _ in range(count)] if count else rng.randint(low, high))
    return kind(*values)


def zeros(kind: type[mavlink.MAVLink_message]) -> mavlink.MAVLink_message:
    counts = (kind.array_lengths[kind.ordered_fieldnames.index(name)] for name in kind.fieldnames)
    return kind(*([0] * count if count else 0 for count in counts))


def one(datagram: bytes) -> Frame:
    (frame,) = frames(datagram)
    return frame


@pytest.mark.parametrize("number", LAYOUTS)
def test_every_message_reads_as_pymavlink_wrote_it(number: int) -> None:
    kind, layout = mavlink.mavlink_map[number], LAYOUTS[number]
    assert (layout.name, layout.crc_extra) == (kind.msgname, kind.crc_extra)
    rng = random.Random(number)
    for _ in range(50):
        message = filled(kind, rng)
        frame = one(bytes(message.pack(mavlink.MAVLink(None, srcSystem=3, srcComponent=1))))
        assert (frame.msg_id, frame.system, frame.component) == (number, 3, 1)
        got = decode(frame)
        assert isinstance(got, layout.made)
        for name, value in got._asdict().items():
            wanted = getattr(message, NAMES.get(name, name))
            assert value == (tuple(wanted) if isinstance(wanted, list) else wanted), name


@pytest.mark.parametrize("number", LAYOUTS)
def test_zeros_that_are_left_off_and_frames_of_version_1(number: int) -> None:
    kind = mavlink.mavlink_map[number]
    short = bytes(zeros(kind).pack(mavlink.MAVLink(None, srcSystem=1, srcComponent=1)))
    assert len(short) == 10 + 1 + 2
    got = decode(one(short))
    assert got is not None and not any(any(value) if isinstance(value, tuple) else value for value in got)
    older = mavlink1.mavlink_map[number]
    message = filled(older, random.Random(1))
    read = decode(one(bytes(message.pack(mavlink1.MAVLink(None, srcSystem=1, srcComponent=1)))))
    assert read is not None
    if isinstance(read, BatteryStatus):
        assert read.voltages_ext_mv == (0,) * 4, "version 1 knows no extensions"


def test_signed_frames_are_read_and_unknown_flags_are_not() -> None:
    sender = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    sender.signing.secret_key, sender.signing.sign_outgoing = b"k" * 32, True
    signed = bytes(mavlink.MAVLink_vfr_hud_message(1.0, 2.0, 0, 0, 3.0, 4.0).pack(sender))
    assert decode(one(signed)) == (2.0, 4.0)
    strange = bytearray(signed)
    strange[2] |= 2
    checksum = mavlink.x25crc(bytes(strange[1:-15]) + bytes([LAYOUTS[74].crc_extra])).crc
    strange[-15:-13] = checksum.to_bytes(2, "little")
    assert decode(one(bytes(strange))) is None


def test_one_wrong_bit_is_noticed() -> None:
    good = bytes(filled(mavlink.mavlink_map[147], random.Random(2)).pack(mavlink.MAVLink(None, 1, 1)))
    for bit in range(10 * 8, len(good) * 8):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        assert decode(one(bytes(bad))) is None


@pytest.mark.parametrize("sequence", [0, 7, 256 + 9])
def test_the_request_is_what_pymavlink_would_send_and_reads(sequence: int) -> None:
    raw = interval_request(3, sequence, 147, 500_000)
    (got,) = mavlink.MAVLink(None).parse_buffer(raw)
    assert (got.get_srcSystem(), got.get_srcComponent(), got.get_seq()) == (3, 191, sequence & 255)
    assert (got.command, got.param1, got.param2) == (mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, 147.0, 500_000.0)
    assert (got.target_system, got.target_component, got.confirmation) == (3, 1, 0)
    pilot = mavlink.MAVLink(None, srcSystem=3, srcComponent=191)
    pilot.seq = sequence & 255
    same = mavlink.MAVLink_command_long_message(3, 1, mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, 0, 147, 500_000, *[0] * 5)
    assert raw == bytes(same.pack(pilot))
