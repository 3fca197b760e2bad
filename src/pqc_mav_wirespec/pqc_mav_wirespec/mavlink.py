# SPDX-License-Identifier: Apache-2.0
"""What shaping reads of MAVLink: headers of messages, and the class of a datagram (docs/protocol.md section 10)."""

from __future__ import annotations

from dataclasses import dataclass

START_1, START_2 = 0xFE, 0xFD
COMMANDS, TRANSFERS, STREAMS, REST = range(4)
_FIXED = {START_1: 8, START_2: 12}
_SIGNED, _SIGNATURE = 1, 13
_CLASS_IDS: dict[int, tuple[int, ...]] = {
    COMMANDS: (0, 4, 11, 69, 70, 75, 76, 77, 80, 82, 84, 86, 111, 247, 253),
    TRANSFERS: (
        *range(20, 24), *range(37, 48), 51, 66, 73, 123, 160, 161, 175, 176, 233, 242, 243, 244,
        *range(12900, 12906), 12915, 12918, 12919,
    ),
    STREAMS: (
        1, 2, 24, 26, 27, 29, 30, 31, 32, 33, 35, 36, 62, 65, 74, 83, 85, 87, 105, 116, 129, 137, 141, 143, 168, 193,
        230, 231, 241, 245, 331,
    ),
}  # fmt: skip
_NEWEST = (69, 70, 82, 84, 86)  # commands of which only the newest counts
_ONCE = (4, 111)  # PING and TIMESYNC ask how long a way is
_CLASS_OF = {message_id: kind for kind, ids in _CLASS_IDS.items() for message_id in ids}


@dataclass(frozen=True)
class Header:
    """The header of one message, and the message's whole size."""

    version: int
    sequence: int
    system: int
    component: int
    message_id: int
    size: int
    signed: bool = False


def _first(data: bytes) -> Header | None:
    if not data or len(data) < _FIXED.get(data[0], len(data) + 1):
        return None
    if data[0] == START_1:
        header = Header(1, data[2], data[3], data[4], data[5], _FIXED[START_1] + data[1])
    else:
        size = _FIXED[START_2] + data[1] + (_SIGNATURE if data[2] & _SIGNED else 0)
        header = Header(
            2, data[4], data[5], data[6], int.from_bytes(data[7:10], "little"), size, bool(data[2] & _SIGNED)
        )
    return header if header.size <= len(data) else None


def walk(datagram: bytes) -> list[Header] | None:
    """The headers of all its messages; None when it is not whole messages from end to end."""
    headers: list[Header] = []
    while datagram:
        header = _first(datagram)
        if header is None:
            return None
        headers.append(header)
        datagram = datagram[header.size :]
    return headers or None


def class_of(datagram: bytes) -> int:
    """The best class among its messages; what cannot be read belongs to the rest."""
    headers = walk(datagram)
    return REST if headers is None else min(_CLASS_OF.get(each.message_id, REST) for each in headers)


def goes_by_several(datagram: bytes) -> bool:
    """Whether copies of it go by the other paths of a drone (section 14)."""
    headers = walk(datagram)
    return headers is not None and all(_cannot_wait(each) and not each.signed for each in headers)


def has_what_cannot_wait(datagram: bytes) -> bool:
    """Whether a path that is for commands alone takes it (section 14)."""
    return any(map(_cannot_wait, walk(datagram) or ()))


def _cannot_wait(header: Header) -> bool:
    kind = _CLASS_OF.get(header.message_id, REST)
    return kind == COMMANDS and header.message_id not in _NEWEST + _ONCE
