# SPDX-License-Identifier: Apache-2.0
"""MAVLink framing: from bytes to frames with a correct CRC, and a name for everything else.

UDP carries whole frames per datagram, so each datagram is judged on its own: bytes of a broken one cannot swallow the
next, as they would in a stream parser. Layout: https://mavlink.io/en/guide/serialization.html.
"""

import struct
from dataclasses import dataclass, field
from enum import Enum

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.mav_types import MessageClass

MAGIC_V1 = 0xFE
MAGIC_V2 = 0xFD
HEADER_V1 = 6
HEADER_V2 = 10
CRC_BYTES = 2
SIGNATURE_BYTES = 13
FLAG_SIGNED = 0x01
MAX_DATAGRAM = 2048


class FrameError(Enum):
    """Why bytes are not a frame."""

    GARBAGE = "garbage"
    TRUNCATED = "truncated"
    BAD_CRC = "bad_crc"
    BAD_FLAGS = "bad_flags"
    BAD_LENGTH = "bad_length"
    UNKNOWN_ID = "unknown_id"
    OVERSIZE = "oversize"


@dataclass(frozen=True)
class Frame:
    """One frame; `payload` has a version 2 sender's stripped zeros put back, `raw` is what was on the wire."""

    version: int
    msg_id: int
    seq: int
    sysid: int
    compid: int
    payload: bytes
    raw: bytes
    signed: bool = False

    @property
    def name(self) -> str:
        """The message name, UNKNOWN_<id> for one we do not know."""
        known = mavlink.mavlink_map.get(self.msg_id)
        return str(known.msgname) if known else f"UNKNOWN_{self.msg_id}"


@dataclass
class Parsed:
    """What a datagram held. `unknown` frames have an id we do not know, so their CRC could not be checked."""

    frames: list[Frame] = field(default_factory=list)
    unknown: list[Frame] = field(default_factory=list)
    errors: list[FrameError] = field(default_factory=list)


def crc(data: bytes, extra: int) -> int:
    """CRC-16/MCRF4XX over data (without the magic byte) and the message's CRC_EXTRA byte."""
    total = mavlink.x25crc(data)
    total.accumulate(bytes((extra,)))
    return int(total.crc)


def frame_at(data: bytes, pos: int, messages: dict[int, MessageClass] = mavlink.mavlink_map) -> Frame | FrameError:
    """Return the frame that starts at data[pos], or why there is none."""
    magic = data[pos]
    if magic == MAGIC_V2:
        header = HEADER_V2
    elif magic == MAGIC_V1:
        header = HEADER_V1
    else:
        return FrameError.GARBAGE
    if len(data) - pos < header + CRC_BYTES:
        return FrameError.TRUNCATED
    length, signed = data[pos + 1], False
    if magic == MAGIC_V2:
        flags = data[pos + 2]
        if flags & ~FLAG_SIGNED:
            return FrameError.BAD_FLAGS
        signed = bool(flags & FLAG_SIGNED)
        seq, sysid, compid = data[pos + 4], data[pos + 5], data[pos + 6]
        msg_id = data[pos + 7] | data[pos + 8] << 8 | data[pos + 9] << 16
    else:
        seq, sysid, compid, msg_id = data[pos + 2], data[pos + 3], data[pos + 4], data[pos + 5]
    body = pos + header
    end = body + length + CRC_BYTES
    total = end + (SIGNATURE_BYTES if signed else 0)
    if total > len(data):
        return FrameError.TRUNCATED
    version = 2 if magic == MAGIC_V2 else 1
    message = messages.get(msg_id)
    if message is None:
        payload = data[body : body + length]
        return Frame(version, msg_id, seq, sysid, compid, payload, data[pos:total], signed)
    size = message.unpacker.size
    if length > size and version == 1:
        return FrameError.BAD_LENGTH
    (expected,) = struct.unpack_from("<H", data, body + length)
    if crc(data[pos + 1 : body + length], message.crc_extra) != expected:
        return FrameError.BAD_CRC
    # a newer sender may know extension fields that we do not: the surplus is cut, as the guide asks
    payload = data[body : body + min(length, size)].ljust(size, b"\0")
    return Frame(version, msg_id, seq, sysid, compid, payload, data[pos:total], signed)


def parse_datagram(data: bytes) -> Parsed:
    """Split a datagram into frames; never raises.

    Bytes between two good frames count as one error, named after what was wrong at their beginning. A frame with an
    unknown id is believed only if it ends where the datagram or a next frame begins.
    """
    parsed = Parsed()
    if len(data) > MAX_DATAGRAM:
        parsed.errors.append(FrameError.OVERSIZE)
        return parsed
    pos, junk = 0, False
    while pos < len(data):
        found = frame_at(data, pos)
        if isinstance(found, Frame):
            end = pos + len(found.raw)
            if found.msg_id in mavlink.mavlink_map:
                parsed.frames.append(found)
                pos, junk = end, False
                continue
            if not junk and (end == len(data) or data[end] in (MAGIC_V1, MAGIC_V2)):
                parsed.unknown.append(found)
                parsed.errors.append(FrameError.UNKNOWN_ID)
                pos = end
                continue
            found = FrameError.UNKNOWN_ID
        if not junk:
            parsed.errors.append(found)
            junk = True
        pos = _next_magic(data, pos + 1)
    return parsed


def _next_magic(data: bytes, pos: int) -> int:
    """Return the next offset >= pos that holds a magic byte, len(data) when there is none."""
    candidates = [p for p in (data.find(MAGIC_V2, pos), data.find(MAGIC_V1, pos)) if p >= 0]
    return min(candidates, default=len(data))


class Decoder:
    """Turns checked frames into pymavlink messages."""

    def __init__(self) -> None:
        self._mav = mavlink.MAVLink(None)

    def decode(self, frame: Frame) -> mavlink.MAVLink_message:
        """Return the message of a parsed frame. Raises mavlink.MAVError for a payload pymavlink refuses."""
        return self._mav.decode(bytearray(frame.raw))
