# SPDX-License-Identifier: Apache-2.0
"""Test vectors of datagrams over a serial line (docs/protocol.md section 3)."""

from __future__ import annotations

from collections.abc import Iterator

from seeded import SeededRandom
from vectorfile import VectorFile
from vectors_keys import begin

from pqc_mav_wirespec import line
from pqc_mav_wirespec.errors import MalformedError


def generate_line(seed: bytes) -> VectorFile:
    """Datagrams with their frame and their messages, and streams that the air damaged."""
    random = SeededRandom(seed + b"/line")
    file = begin("line", "Datagrams on a serial line")
    messages = line.Messages()
    for name, byte, datagram in _datagrams(random):
        row = file.section(name).put(line=bytes([byte]), datagram=datagram)
        row.put(frame=line.frame(byte, datagram), messages=messages.write(byte, datagram))
    for name, what, stream in _streams(random):
        received = _read(what, stream)
        file.section(name).put(what=what, stream=stream, have=_in_words(received), count=received.errors)
    return file


def check_line(file: VectorFile) -> None:
    """Each datagram must become the recorded bytes, and each stream give what is recorded."""
    messages = line.Messages()
    for row in file.sections[1:]:
        if "stream" in row:
            received = _read(row.text("what"), row.raw("stream"))
            good = (_in_words(received), received.errors) == (row.text("have"), row.number("count"))
        else:
            byte, datagram = row.raw("line")[0], row.raw("datagram")
            made = line.frame(byte, datagram), messages.write(byte, datagram)
            good = made == (row.raw("frame"), row.raw("messages"))
            for received in (line.read_frames(made[0]), line.read_messages(made[1])):
                good = good and received == line.Received([line.Carried(byte, datagram)])
        if not good:
            raise MalformedError(f"[{row.name}] is not what docs/protocol.md section 3 gives")


def _read(what: str, stream: bytes) -> line.Received:
    return line.read_frames(stream) if what == "raw" else line.read_messages(stream)


def _in_words(received: line.Received) -> str:
    return " ".join(f"{each.line:02x}/{each.datagram.hex()}" for each in received.carried)


def _datagrams(random: SeededRandom) -> Iterator[tuple[str, int, bytes]]:
    yield "empty", 0x00, b""
    yield "one", 0x80, b"\x01"
    yield "zeros", 0x85, bytes(5)
    yield "packet", 0x7F, random(71)
    yield "two-parts", 0x81, random(224)
    yield "run-of-253", 0x01, b"\x55" * 252
    yield "handshake", 0xFF, random(548)
    yield "run-of-254", 0x01, b"\x01" * 249 + b"\x00" + b"\x55" * 254


def _streams(random: SeededRandom) -> Iterator[tuple[str, str, bytes]]:
    first, second, third = (line.frame(0x81, random(size)) for size in (20, 9, 30))
    yield "raw-whole", "raw", b"\0" + first + second + third
    yield "raw-lost-byte", "raw", first + second[:3] + second[4:] + third
    yield "raw-lost-delimiter", "raw", first[:-1] + second + third
    yield "raw-bent", "raw", first + second[:5] + bytes([second[5] ^ 0x40]) + second[6:] + third
    yield "raw-inserted-zero", "raw", first + second[:6] + b"\0" + second[6:] + third
    yield "raw-too-short", "raw", first + b"\x03\x01\x02\0" + b"\x01\0" + third
    messages = line.Messages()
    one, two, three = (messages.write(0x81, random(size)) for size in (20, 230, 30))
    foreign = bytes.fromhex("fe09000101000000000002035103035e58")
    yield "mavlink-whole", "mavlink", foreign + one + foreign + two + three
    yield "mavlink-lost-byte", "mavlink", one[:15] + one[16:] + two + three
    yield "mavlink-false-start", "mavlink", b"\xfd\x40\x00" + one + two + three
    yield "mavlink-lost-part", "mavlink", one + two[233:] + three
    yield "mavlink-cut-part", "mavlink", two[:233] + one + three
    yield "mavlink-cut", "mavlink", one + two + three[:-4]
