# SPDX-License-Identifier: Apache-2.0
"""Datagrams over a serial line, raw and in MAVLink messages (docs/protocol.md section 3)."""

from __future__ import annotations

from dataclasses import dataclass, field

from .encoding import Reader, u8, u16
from .errors import MalformedError

MOST = 1472
PART, PARTS = 223, 7
_MESSAGE_ID, _CRC_EXTRA = 131, 223
_SENDER = bytes([51, 191])
_HEAD, _FIELDS = 6, 2
_HEAD_2, _SUM, _SIGNATURE = 10, 2, 13


@dataclass(frozen=True)
class Carried:
    """A datagram and the byte `line` that came with it."""

    line: int
    datagram: bytes


@dataclass
class Received:
    """What a stream of bytes had in it."""

    carried: list[Carried] = field(default_factory=list)
    errors: int = 0


def crc16(data: bytes) -> int:
    """CRC-16/MCRF4XX, bit by bit."""
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x8408 if value & 1 else 0)
    return value


def cobs_encode(data: bytes) -> bytes:
    """Without the delimiter."""
    out, rest = b"", data + b"\0"
    while rest:
        run = rest[:254].split(b"\0", 1)[0]
        if len(run) == 254:
            out, rest = out + b"\xff" + run, rest[254:]
        else:
            out, rest = out + u8(len(run) + 1) + run, rest[len(run) + 1 :]
    return out


def cobs_decode(data: bytes) -> bytes:
    """Raises MalformedError for what is no encoding of anything."""
    reader, out = Reader(data), b""
    if not data or 0 in data:
        raise MalformedError("an encoding has bytes, and no zero among them")
    while reader.left:
        code = reader.u8("code")
        out += reader.take(code - 1, "run")
        if code < 0xFF:
            out += b"\0"
    return out[:-1] if code < 0xFF else out


def frame(line: int, datagram: bytes) -> bytes:
    """One frame with its delimiter. Raises MalformedError for a datagram that is too long."""
    inside = u8(line) + _fitting(datagram)
    return cobs_encode(inside + u16(crc16(inside))) + b"\0"


def read_frames(stream: bytes) -> Received:
    """The datagrams of all frames that are complete; an error for each that is none."""
    out = Received()
    for encoded in stream.split(b"\0")[:-1]:
        if not encoded:
            continue
        try:
            inside = cobs_decode(encoded)
            if not 3 <= len(inside) <= MOST + 3 or u16(crc16(inside[:-2])) != inside[-2:]:
                raise MalformedError("a frame whose length or checksum is wrong")
            out.carried.append(Carried(inside[0], inside[1:-2]))
        except MalformedError:
            out.errors += 1
    return out


class Messages:
    """Writes datagrams as messages of MAVLink 1, which are numbered."""

    def __init__(self) -> None:
        self._sequence = 0

    def write(self, line: int, datagram: bytes) -> bytes:
        """All messages of one datagram. Raises MalformedError for one that is too long."""
        parts = [_fitting(datagram)[i : i + PART] for i in range(0, max(1, len(datagram)), PART)]
        out = b""
        for place, part in enumerate(parts):
            payload = bytes([place << 4 | len(parts), line]) + part
            head = bytes([len(payload), self._sequence]) + _SENDER + u8(_MESSAGE_ID)
            out += b"\xfe" + head + payload + _sum(head + payload)
            self._sequence = (self._sequence + 1) % 256
        return out


def read_messages(stream: bytes) -> Received:
    """The datagrams in a stream that ended and took less than a second; an error for what of them is damaged.

    Which bytes are a message is judged by form and checksum; where they are not, the search goes on one byte further.
    """
    out = Received()
    open_: dict[int, tuple[int, int, list[bytes]]] = {}
    while stream:
        size = _message_size(stream)
        message, stream = stream[:size], stream[size or 1 :]
        fields = message[_HEAD : _HEAD + _FIELDS]
        if not size or message[0] != 0xFE or message[3:_HEAD] != _SENDER + u8(_MESSAGE_ID):
            continue
        if message[1] < _FIELDS:
            continue
        place, parts, line, sequence = fields[0] >> 4, fields[0] & 15, fields[1], message[2]
        content = message[_HEAD + _FIELDS : -_SUM]
        if message[-_SUM:] != _sum(message[1:-_SUM]) or not _is_part(place, parts, len(content)):
            out.errors += 1
            continue
        begun = open_.pop(line, None)
        if begun is not None and begun[:2] == (sequence, parts) and len(begun[2]) == place:
            so_far = begun[2]
        else:
            out.errors += (begun is not None) + (place != 0)
            so_far = []
            if place:
                continue
        if place + 1 < parts:
            open_[line] = ((sequence + 1) % 256, parts, [*so_far, content])
        elif (size := sum(map(len, so_far)) + len(content)) > MOST:
            out.errors += 1
        else:
            out.carried.append(Carried(line, b"".join([*so_far, content])))
    return out


def _is_part(place: int, parts: int, size: int) -> bool:
    """The last part has some bytes, unless it is the only one; all others are full."""
    right_size = size <= PART and (size > 0 or parts == 1) if place + 1 == parts else size == PART
    return place < parts <= PARTS and right_size


def _message_size(stream: bytes) -> int:
    """Of the message at the beginning; 0 if there is none."""
    if len(stream) < 3 or stream[0] not in (0xFD, 0xFE):
        return 0
    second = stream[0] == 0xFD
    if second and stream[2] & ~1:
        return 0
    end = (_HEAD_2 if second else _HEAD) + stream[1]
    size = end + _SUM + (_SIGNATURE if second and stream[2] else 0)
    checked, there = stream[1:end], stream[end : end + _SUM]
    return size if size <= len(stream) and any(_sum(checked, extra) == there for extra in range(256)) else 0


def _sum(checked: bytes, extra: int = _CRC_EXTRA) -> bytes:
    return crc16(checked + u8(extra)).to_bytes(2, "little")


def _fitting(datagram: bytes) -> bytes:
    if len(datagram) > MOST:
        raise MalformedError(f"a datagram of {len(datagram)} bytes is too long for a serial line ({MOST})")
    return datagram
