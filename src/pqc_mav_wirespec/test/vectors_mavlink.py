# SPDX-License-Identifier: Apache-2.0
"""Test vectors of the MAVLink headers that shaping reads (docs/protocol.md section 10)."""

from __future__ import annotations

from collections.abc import Iterator

from seeded import SeededRandom
from vectorfile import VectorFile
from vectors_keys import begin

from pqc_mav_wirespec import mavlink
from pqc_mav_wirespec.errors import MalformedError


def generate_mavlink(seed: bytes) -> VectorFile:
    """Datagrams of whole messages, of cut ones and of none."""
    file = begin("mavlink", "MAVLink headers")
    for name, datagram in _datagrams(SeededRandom(seed + b"/mavlink")):
        headers = mavlink.walk(datagram)
        row = file.section(name).put(datagram=datagram, count=len(headers or []))
        row.put(have=_in_words(headers or []), index=mavlink.class_of(datagram))
    return file


def check_mavlink(file: VectorFile) -> None:
    """The headers and the class of each datagram must be as recorded."""
    for row in file.sections[1:]:
        datagram = row.raw("datagram")
        headers = mavlink.walk(datagram) or []
        found = (len(headers), _in_words(headers), mavlink.class_of(datagram))
        if found != (row.number("count"), row.text("have"), row.number("index")):
            raise MalformedError(f"[{row.name}] has {found}")


def _in_words(headers: list[mavlink.Header]) -> str:
    values = ((h.version, h.sequence, h.system, h.component, h.message_id, h.size) for h in headers)
    return " ".join("/".join(map(str, each)) for each in values)


def _v1(random: SeededRandom, message_id: int, payload: int) -> bytes:
    return bytes([0xFE, payload, *random(3), message_id]) + random(payload + 2)


def _v2(random: SeededRandom, message_id: int, payload: int, flags: int = 0) -> bytes:
    head = bytes([0xFD, payload, flags, 0, *random(3)]) + message_id.to_bytes(3, "little")
    return head + random(payload + 2 + (13 if flags & 1 else 0))


def _datagrams(random: SeededRandom) -> Iterator[tuple[str, bytes]]:
    attitude, command = _v2(random, 30, 28), _v2(random, 76, 33)
    yield "v1", _v1(random, 33, 28)
    yield "v1-empty-payload", _v1(random, 0, 0)
    yield "v2", attitude
    yield "v2-wide-id", _v2(random, 12_901, 44)
    yield "v2-unknown-id", _v2(random, 0xFFFFFF, 1)
    yield "v2-signed", _v2(random, 76, 33, 1)
    yield "v2-other-flags", _v2(random, 22, 25, 0xFE)
    yield "two", attitude + command
    yield "two-versions", _v1(random, 110, 60) + attitude
    yield "two-of-the-rest", _v2(random, 110, 60) + _v2(random, 120, 97)
    yield "cut-header", command[:9]
    yield "cut-payload", command[:-3]
    yield "cut-signature", _v2(random, 76, 33, 1)[:-1]
    yield "cut-second", command + attitude[:-1]
    yield "tail", command + b"\0"
    yield "garbage", b"\x55" + random(40)
    yield "garbage-that-begins-well", b"\xfd" + random(11)
    yield "empty", b""
