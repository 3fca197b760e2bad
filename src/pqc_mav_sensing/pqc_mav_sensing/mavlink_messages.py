# SPDX-License-Identifier: Apache-2.0
"""The few messages of MAVLink that sensing reads: found in a datagram, checked and unpacked. And the one it sends.

pymavlink would do the same with classes for three hundred messages, which cost the process 25 MB. Layouts and
checksums: https://mavlink.io/en/guide/serialization.html and the `common` dialect; a test compares both with pymavlink.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

MAX_DATAGRAM = 2048
AUTOPILOT = 1  # MAV_COMP_ID_AUTOPILOT1
ONBOARD_COMPUTER = 191  # MAV_COMP_ID_ONBOARD_COMPUTER
SET_MESSAGE_INTERVAL = 511  # MAV_CMD
_V1, _V2 = 0xFE, 0xFD
_HEADER = {_V1: 6, _V2: 10}  # bytes before the payload
_CRC_BYTES, _SIGNATURE_BYTES = 2, 13
_COMMAND_LONG, _COMMAND_LONG_ID, _COMMAND_LONG_CRC = Struct("<7fHBB"), 76, 152  # the confirmation, 0, is left off
_SIGNED = 1  # of the incompatibility flags; a frame with another one cannot be understood


class Heartbeat(NamedTuple):
    """HEARTBEAT, without what it says about the system's state."""

    custom_mode: int
    type: int
    autopilot: int
    base_mode: int


class SysStatus(NamedTuple):
    """SYS_STATUS: the battery as a whole."""

    voltage_mv: int
    current_ca: int
    remaining: int


class Position(NamedTuple):
    """GLOBAL_POSITION_INT: place [1e-7 degrees] and height above home."""

    lat: int
    lon: int
    relative_alt_mm: int


class Home(NamedTuple):
    """HOME_POSITION: place [1e-7 degrees]."""

    latitude: int
    longitude: int


class Hud(NamedTuple):
    """VFR_HUD: speeds."""

    groundspeed: float
    climb: float


class BatteryStatus(NamedTuple):
    """BATTERY_STATUS of one battery, with the voltages of cells 1 to 10 and 11 to 14."""

    temperature_cdeg: int
    voltages_mv: tuple[int, ...]
    current_ca: int
    id: int
    remaining: int
    voltages_ext_mv: tuple[int, ...]

    @classmethod
    def of(cls, *values: int) -> BatteryStatus:
        """From the values in the order of the payload."""
        temperature, current, number, remaining = values[0], *values[11:14]
        return cls(temperature, values[1:11], current, number, remaining, values[14:18])


class LandedState(NamedTuple):
    """EXTENDED_SYS_STATE."""

    landed_state: int


class CommandAck(NamedTuple):
    """COMMAND_ACK, and whom it is for; both targets are 0 where the autopilot does not say."""

    command: int
    result: int
    target_system: int
    target_component: int


Message = Heartbeat | SysStatus | Position | Home | Hud | BatteryStatus | LandedState | CommandAck


@dataclass(frozen=True)
class Layout:
    """How one message is packed; fields that are not read are skipped."""

    name: str
    crc_extra: int
    fields: Struct
    made: type[Message]


LAYOUTS: Mapping[int, Layout] = {
    0: Layout("HEARTBEAT", 50, Struct("<IBBB"), Heartbeat),
    1: Layout("SYS_STATUS", 124, Struct("<14xHh12xb"), SysStatus),
    33: Layout("GLOBAL_POSITION_INT", 104, Struct("<4xii4xi"), Position),
    74: Layout("VFR_HUD", 20, Struct("<4xf4xf"), Hud),
    77: Layout("COMMAND_ACK", 143, Struct("<HB5xBB"), CommandAck),
    147: Layout("BATTERY_STATUS", 154, Struct("<8xh10HhB2xb5x4H"), BatteryStatus),
    242: Layout("HOME_POSITION", 104, Struct("<ii"), Home),
    245: Layout("EXTENDED_SYS_STATE", 130, Struct("<xB"), LandedState),
}


class Frame(NamedTuple):
    """One frame as its header describes it; nothing is checked yet."""

    msg_id: int
    system: int
    component: int
    raw: bytes


def frames(datagram: bytes) -> Iterator[Frame]:
    """Every frame whose header fits into the datagram."""
    at, size = 0, min(len(datagram), MAX_DATAGRAM)
    while at + 8 <= size:
        magic, length = datagram[at], datagram[at + 1]
        if magic == _V2 and at + 12 <= size:
            end = at + 12 + length + (_SIGNATURE_BYTES if datagram[at + 2] & _SIGNED else 0)
            msg_id = int.from_bytes(datagram[at + 7 : at + 10], "little")
            sender = datagram[at + 5], datagram[at + 6]
        elif magic == _V1:
            end = at + 8 + length
            msg_id, sender = datagram[at + 5], (datagram[at + 3], datagram[at + 4])
        else:
            at += 1
            continue
        if end > size:
            at += 1
            continue
        yield Frame(msg_id, *sender, datagram[at:end])
        at = end


def decode(frame: Frame) -> Message | None:
    """The message of a frame whose id is in LAYOUTS; None for a broken one."""
    raw, layout = frame.raw, LAYOUTS[frame.msg_id]
    if raw[0] == _V2 and raw[2] & ~_SIGNED:
        return None
    begin = _HEADER[raw[0]]
    end = begin + raw[1]
    if _crc(raw[1:end], layout.crc_extra) != int.from_bytes(raw[end : end + _CRC_BYTES], "little"):
        return None
    # Version 2 leaves off zeros at the end, version 1 knows no extensions: both are zeros here.
    payload = raw[begin:end].ljust(layout.fields.size, b"\0")
    values = layout.fields.unpack_from(payload)
    return BatteryStatus.of(*values) if layout.made is BatteryStatus else layout.made(*values)


def interval_request(system: int, sequence: int, message: int, interval_us: int) -> bytes:
    """COMMAND_LONG SET_MESSAGE_INTERVAL to the autopilot of this system, from a companion computer of it."""
    payload = _COMMAND_LONG.pack(
        float(message), float(interval_us), 0.0, 0.0, 0.0, 0.0, 0.0, SET_MESSAGE_INTERVAL, system, AUTOPILOT
    )
    head = bytes((_V2, len(payload), 0, 0, sequence & 0xFF, system, ONBOARD_COMPUTER, _COMMAND_LONG_ID, 0, 0))
    return head + payload + _crc(head[1:] + payload, _COMMAND_LONG_CRC).to_bytes(_CRC_BYTES, "little")


def _crc(content: bytes, extra: int) -> int:
    """CRC-16/MCRF4XX over the content and one byte more."""
    crc = 0xFFFF
    for byte in content:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc >> 8 ^ _TABLE[(crc ^ extra) & 0xFF]


def _table() -> tuple[int, ...]:
    entries = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x8408 if value & 1 else 0)
        entries.append(value)
    return tuple(entries)


_TABLE = _table()
