# SPDX-License-Identifier: Apache-2.0
"""What a stranger puts on the wire: pure functions from captured bytes and a seeded generator to frames."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass

HEADER = 22
TAG = 16
_SEQUENCE_AT = 13
_ETHERNET = 14


@dataclass(frozen=True)
class Flow:
    """An Ethernet frame with a tunnel datagram in it, taken apart. `down` is the way to the gcs."""

    frame: bytes
    payload_at: int
    down: bool

    @property
    def payload(self) -> bytes:
        """The UDP payload."""
        return self.frame[self.payload_at :]


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def tunnel_flow(frame: bytes, data_port: int) -> Flow | None:
    """Return the frame taken apart when it carries a whole tunnel datagram to or from the gcs' data port."""
    if len(frame) < _ETHERNET + 28 or frame[12:14] != b"\x08\x00" or frame[_ETHERNET + 9] != 17:
        return None
    if struct.unpack_from(">H", frame, _ETHERNET + 6)[0] & 0x3FFF:  # a piece of a larger datagram
        return None
    start = _ETHERNET + (frame[_ETHERNET] & 0x0F) * 4
    source, to, length = struct.unpack_from(">HHH", frame, start)
    if data_port not in (source, to) or length < 8 + HEADER + TAG or len(frame) < start + length:
        return None
    return Flow(frame[: start + length], start + 8, to == data_port)


def random_payload(generator: random.Random) -> bytes:
    """0-1,400 random bytes; every other one begins like a datagram of this protocol."""
    data = bytearray(generator.randbytes(generator.randrange(1401)))
    if data and generator.random() < 0.5:
        data[0] = generator.choice((0x02, 0x12))
    return bytes(data)


def forge(flow: Flow, generator: random.Random) -> bytes:
    """The captured frame with a far higher sequence and random content and tag; checksums mended."""
    frame = bytearray(flow.frame)
    at = flow.payload_at + _SEQUENCE_AT
    sequence = int.from_bytes(frame[at : at + 8], "big") + (1 << generator.randrange(0, 50))
    frame[at : at + 8] = (sequence & (1 << 64) - 1).to_bytes(8, "big")
    frame[flow.payload_at + HEADER :] = generator.randbytes(len(frame) - flow.payload_at - HEADER)
    start = flow.payload_at - 8
    frame[start + 6 : start + 8] = b"\0\0"  # UDP over IPv4 may leave its checksum out
    return bytes(frame)


def syn(generator: random.Random, stranger_mac: bytes, gcs_mac: bytes, gcs: bytes, port: int) -> bytes:
    """A TCP SYN from an unused address of the segment."""
    source = gcs[:2] + bytes([generator.randrange(128, 256), generator.randrange(1, 255)])
    tcp = bytearray(
        struct.pack(
            ">HHIIBBHHH", generator.randrange(1024, 65536), port, generator.getrandbits(32), 0, 0x50, 2, 64240, 0, 0
        )
    )
    tcp[16:18] = checksum(source + gcs + struct.pack(">BBH", 0, 6, len(tcp)) + bytes(tcp)).to_bytes(2, "big")
    ip = bytearray(
        struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), generator.getrandbits(16), 0, 64, 6, 0) + source + gcs
    )
    ip[10:12] = checksum(bytes(ip)).to_bytes(2, "big")
    return gcs_mac + stranger_mac + b"\x08\x00" + bytes(ip) + bytes(tcp)


def half_hello(generator: random.Random, drone_id: str, suite: str) -> bytes:
    """A ClientHello that is plausible up to its middle and then stops (docs/protocol.md, section 4)."""
    body = struct.pack(">I", len(drone_id)) + drone_id.encode() + generator.randbytes(32)
    body += struct.pack(">I", len(suite)) + suite.encode()
    return struct.pack(">IB", len(body) + 120, 1) + body[: generator.randrange(1, len(body))]


def false_hello(generator: random.Random, drone_id: str, suite: str, kem: str, sig: str) -> bytes:
    """A whole ClientHello of a known drone whose gate is a guess."""

    def lp(text: str) -> bytes:
        return struct.pack(">I", len(text)) + text.encode()

    body = lp(drone_id) + generator.randbytes(32) + lp(suite) + lp(kem) + lp(sig)
    body += b"\x01" + bytes(8) + b"\0" + generator.randbytes(32)
    return struct.pack(">IB", len(body), 1) + body
