# SPDX-License-Identifier: Apache-2.0
"""What a stranger puts on the wire: pure functions from captured bytes and a seeded generator to frames."""

import random
import socket
import struct
from dataclasses import dataclass

HEADER = 22
TAG = 16
_SESSION_AT = 5
_SEQUENCE_AT = 13
_ETHERNET = 14
_FROM_DRONE, _FROM_GCS = 0x33, 0x43  # handshake datagrams: docs/protocol.md, section 5
_FRAGMENT, _CLIENT_HELLO = 1, 1
_HANDSHAKE_TAG = 8


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

    @property
    def handshake(self) -> bool:
        """Whether it belongs to a handshake outside a session."""
        return self.frame[self.payload_at] in (_FROM_DRONE, _FROM_GCS)


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
        data[0] = generator.choice((0x03, 0x13))
    return bytes(data)


def rate_at(rate: str, begun_s: float, seed: int) -> float:
    """How many a second that long after the start: a number, or `random` (2 to 500, another every 0.5 s), or `bursts`.

    A burst is 0.3 s at 150/s, one every 1.5 s.
    """
    if rate == "bursts":
        return 150.0 if begun_s % 1.5 < 0.3 else 0.0
    if rate == "random":
        return float(2.0 * 250.0 ** random.Random(f"{seed}/{int(begun_s * 2)}").random())
    return float(rate)


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


def flip(flow: Flow, generator: random.Random) -> bytes:
    """The captured frame a little ahead in its sequence and with one bit of its content or tag turned over."""
    frame = bytearray(flow.frame)
    at = flow.payload_at + _SEQUENCE_AT
    frame[at : at + 8] = (int.from_bytes(frame[at : at + 8], "big") + generator.randrange(1, 65)).to_bytes(8, "big")
    at = generator.randrange(flow.payload_at + HEADER, len(frame))
    frame[at] ^= 1 << generator.randrange(8)
    start = flow.payload_at - 8
    frame[start + 6 : start + 8] = b"\0\0"
    return bytes(frame)


def of_another_session(payload: bytes, generator: random.Random) -> bytes:
    """A captured datagram as of a session that nobody holds."""
    return payload[:_SESSION_AT] + generator.randbytes(8) + payload[_SESSION_AT + 8 :]


def spoiled(payload: bytes, generator: random.Random) -> bytes:
    """A captured handshake datagram with one byte changed, somewhere behind the number of its attempt."""
    at = generator.randrange(min(13, len(payload) - 1), len(payload))
    return payload[:at] + bytes([payload[at] ^ generator.randrange(1, 256)]) + payload[at + 1 :]


def random_handshake(generator: random.Random) -> bytes:
    """A handshake datagram from a drone with random attempt, number, frames and tag; some are too short or too long."""
    return bytes([_FROM_DRONE]) + generator.randbytes(generator.randrange(1401))


def false_hello(generator: random.Random, drone_id: str, suite: str, kem: str, sig: str) -> bytes:
    """A handshake datagram with a whole ClientHello of a known drone, whose gate and tag are guesses (section 4)."""

    def lp(text: str) -> bytes:
        return struct.pack(">I", len(text)) + text.encode()

    body = lp(drone_id) + lp("gcs") + generator.randbytes(32) + lp(suite) + lp(kem) + lp(sig)
    # flags (hybrid), prev_session, epoch, features, index, max_datagram, term, no return proof
    body += b"\x01" + bytes(8) + struct.pack(">BHBHII", 0, 0, generator.randrange(256), 1200, 0, 0)
    body += generator.randbytes(32)
    message = struct.pack(">IB", len(body), _CLIENT_HELLO) + body
    fragment = struct.pack(">BBBHHH", _FRAGMENT, _CLIENT_HELLO, 0, len(message), len(message), 0) + message
    header = struct.pack(">B8sI", _FROM_DRONE, generator.randbytes(8), 0)
    return header + fragment + generator.randbytes(_HANDSHAKE_TAG)


def networks_address(generator: random.Random) -> str:
    """One of 256 networks of /24, any host in it (198.18.0.0/16 is for such measurements: RFC 2544)."""
    return f"198.18.{generator.randrange(256)}.{generator.randrange(1, 255)}"


def syn(source: tuple[str, int], to: tuple[str, int], macs: tuple[bytes, bytes], sequence: int) -> bytes:
    """An Ethernet frame with a TCP SYN that claims to come from `source`. `macs`: sender, next hop."""
    tcp = struct.pack(">HHIIBBHHH", source[1], to[1], sequence, 0, 0x50, 0x02, 64240, 0, 0)
    addresses = socket.inet_aton(source[0]) + socket.inet_aton(to[0])
    mark = checksum(addresses + struct.pack(">HH", socket.IPPROTO_TCP, len(tcp)) + tcp)
    return _frame(addresses, socket.IPPROTO_TCP, tcp[:16] + struct.pack(">H", mark) + tcp[18:], macs)


def spoofed(payload: bytes, source: tuple[str, int], to: tuple[str, int], macs: tuple[bytes, bytes]) -> bytes:
    """An Ethernet frame with a UDP datagram that claims to come from `source`. `macs`: sender, next hop."""
    udp = struct.pack(">HHHH", source[1], to[1], 8 + len(payload), 0) + payload
    return _frame(socket.inet_aton(source[0]) + socket.inet_aton(to[0]), socket.IPPROTO_UDP, udp, macs)


def _frame(addresses: bytes, protocol: int, content: bytes, macs: tuple[bytes, bytes]) -> bytes:
    fields = (0x45, 0, 20 + len(content), 0, 0, 64, protocol)
    mark = checksum(struct.pack(">BBHHHBBH", *fields, 0) + addresses)
    return macs[1] + macs[0] + b"\x08\x00" + struct.pack(">BBHHHBBH", *fields, mark) + addresses + content


def checksum(data: bytes) -> int:
    """That of IPv4, ICMP and TCP (RFC 1071), of an even number of bytes."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
