# SPDX-License-Identifier: Apache-2.0
"""Handshake datagrams, their frames and tags, Retry and Restart, as bytes (docs/protocol.md sections 5, 6, 9)."""

from __future__ import annotations

from dataclasses import dataclass

from .encoding import Reader, u8, u16, u24, u32
from .errors import MalformedError
from .primitives import hkdf_expand, hmac, same
from .proofs import COOKIE_BYTES, TOKEN_BYTES

TYPE_DRONE, TYPE_GCS, TYPE_RETRY, TYPE_RESTART = 0x33, 0x43, 0x53, 0x63
ATTEMPT_BYTES = 8
HEAD_BYTES, TAG_BYTES, RETRY_TAG_BYTES = 13, 8, 16
RETRY_BYTES, RESTART_BYTES = 57, 25
MESSAGES_DRONE, MESSAGES_GCS = (1, 3), (2, 4, 9)
RATCHET_DRONE, RATCHET_GCS = (5,), (6,)  # inside a session
SMALLEST_SIZE, LARGEST_SIZE = 475, 1150
PARITY_FRAGMENTS = range(2, 17)
GROUP = 4
MAX_BITMAP_BYTES = 32
MOST_OF_A_KIND = 4
LARGEST_BYTES = 1200


def fragment_count(total: int, size: int) -> int:
    """How many fragments a message of `total` bytes has when it is cut with `size`."""
    return 1 if total <= size else -(-total // size)


def parity_indices(count: int) -> dict[int, range]:
    """Index of each parity fragment and the data fragments it covers."""
    if count not in PARITY_FRAGMENTS:
        return {}
    groups = [range(start, min(start + GROUP, count)) for start in range(0, count, GROUP)]
    return {count + number: group for number, group in enumerate(groups) if len(group) > 1}


def fragment_bytes(total: int, size: int, index: int) -> int:
    """Length of one fragment's bytes. Raises MalformedError for an index or size that does not exist."""
    count = fragment_count(total, size)
    if count > 1 and not SMALLEST_SIZE <= size <= LARGEST_SIZE:
        raise MalformedError(f"fragments of {size} bytes, expected {SMALLEST_SIZE} to {LARGEST_SIZE}")
    if index < count:
        return min(total, (index + 1) * size) - index * size
    if index not in parity_indices(count):
        raise MalformedError(f"fragment {index} of a message that has {count}")
    return size


@dataclass(frozen=True)
class Fragment:
    """A piece of a message, or the parity of a group."""

    message: int
    total: int
    size: int
    index: int
    data: bytes

    def pack(self) -> bytes:
        """The frame on the wire."""
        return u8(1) + u8(self.message) + u24(self.total) + u16(self.size) + u16(self.index) + self.data


@dataclass(frozen=True)
class Ack:
    """What of a message is here, and the newest datagram seen."""

    message: int
    echo: int
    delay_ms: int
    base: int
    bitmap: bytes = b""

    def pack(self) -> bytes:
        """The frame on the wire."""
        fixed = u8(2) + u8(self.message) + u32(self.echo) + u16(self.delay_ms) + u16(self.base)
        return fixed + u8(len(self.bitmap)) + self.bitmap

    @property
    def here(self) -> set[int]:
        """The fragments above `base` that are here."""
        bits = int.from_bytes(self.bitmap, "little")
        return {self.base + 1 + bit for bit in range(8 * len(self.bitmap)) if bits >> bit & 1}

    @classmethod
    def of(cls, message: int, echo: int, delay_ms: int, count: int, have: set[int]) -> Ack:
        """The ACK of a message of `count` fragments of which `have` are here."""
        base = next((index for index in range(count) if index not in have), count)
        highest = max((index for index in have if base < index <= base + 8 * MAX_BITMAP_BYTES), default=base)
        bits = sum(1 << index - base - 1 for index in have if base < index <= highest)
        return cls(message, echo, min(delay_ms, 0xFFFF), base, bits.to_bytes((highest - base + 7) // 8, "little"))


@dataclass(frozen=True)
class CookieFrame:
    """The cookie of a Retry, beside M1."""

    cookie: bytes

    def pack(self) -> bytes:
        """The frame on the wire."""
        return u8(3) + self.cookie


Frame = Fragment | Ack | CookieFrame


def _take_frame(reader: Reader, is_session: bool) -> Frame | None:
    """The next frame, None for a PAD that took the rest."""
    kind = reader.u8("frame type")
    if kind == 0 and not is_session:
        if any(reader.rest()):
            raise MalformedError("a PAD with other bytes than zeros")
        return None
    if kind == 1:
        head = (reader.u8("message"), reader.u24("total"), reader.u16("size"), reader.u16("index"))
        return Fragment(*head, reader.take(fragment_bytes(*head[1:]), "fragment"))
    if kind == 2:
        head = (reader.u8("message"), reader.u32("echo"), reader.u16("delay"), reader.u16("base"))
        length = reader.u8("length of the bitmap")
        if length > MAX_BITMAP_BYTES:
            raise MalformedError(f"a bitmap of {length} bytes; 32 are allowed")
        return Ack(*head, reader.take(length, "bitmap"))
    if kind == 3 and not is_session:
        return CookieFrame(reader.take(COOKIE_BYTES, "cookie"))
    raise MalformedError(f"frame type {kind} means nothing here")


def parse_frames(data: bytes, *, from_drone: bool, is_session: bool = False) -> tuple[Frame, ...]:
    """All frames but PAD. Raises MalformedError for whatever is wrong without knowing the attempt's state."""
    if not data:
        raise MalformedError("a handshake datagram without a frame")
    reader = Reader(data)
    frames: list[Frame] = []
    while reader.left:
        frame = _take_frame(reader, is_session)
        if frame is not None:
            frames.append(frame)
    of_drone = MESSAGES_DRONE + RATCHET_DRONE * is_session
    of_gcs = MESSAGES_GCS + RATCHET_GCS * is_session
    own, other = (of_drone, of_gcs) if from_drone else (of_gcs, of_drone)
    carried = {frame.message for frame in frames if isinstance(frame, Fragment)}
    if len(carried) > 1 or not carried <= set(own):
        raise MalformedError(f"fragments of messages {sorted(carried)}")
    if any(frame.message not in other for frame in frames if isinstance(frame, Ack)):
        raise MalformedError("an ACK of a message that its receiver does not send")
    if max(sum(isinstance(frame, kind) for frame in frames) for kind in (Fragment, Ack)) > MOST_OF_A_KIND:
        raise MalformedError(f"more than {MOST_OF_A_KIND} frames of a kind")
    cookies = sum(isinstance(frame, CookieFrame) for frame in frames)
    if cookies > 1 or (cookies and carried != {1}):
        raise MalformedError("a COOKIE without M1, or two")
    return tuple(frames)


@dataclass(frozen=True)
class FragmentKeys:
    """`k_f` of one attempt, in halves."""

    drone: bytes
    gcs: bytes

    @classmethod
    def derive(cls, psk: bytes, attempt: bytes) -> FragmentKeys:
        """`HKDF-Expand(PSK, "PQMAV/3 fragment" || attempt, 64)`."""
        both = hkdf_expand(psk, b"PQMAV/3 fragment" + attempt, 64)
        return cls(both[:32], both[32:])


@dataclass(frozen=True)
class HandshakeDatagram:
    """A handshake datagram whose tag is not verified yet; `raw` is all of it."""

    from_drone: bool
    attempt: bytes
    packet: int
    frames: tuple[Frame, ...]
    raw: bytes

    @property
    def hello(self) -> Fragment | None:
        """The fragment that is M1, if there is one."""
        return next((frame for frame in self.frames if isinstance(frame, Fragment) and frame.message == 1), None)

    @property
    def cookie(self) -> bytes | None:
        """The cookie, if there is one."""
        return next((frame.cookie for frame in self.frames if isinstance(frame, CookieFrame)), None)

    @classmethod
    def parse(cls, datagram: bytes) -> HandshakeDatagram:
        """Raises MalformedError."""
        if not HEAD_BYTES + TAG_BYTES <= len(datagram) <= LARGEST_BYTES:
            raise MalformedError(f"a handshake datagram of {len(datagram)} bytes")
        reader = Reader(datagram[:-TAG_BYTES])
        from_drone = {TYPE_DRONE: True, TYPE_GCS: False}[reader.u8("type")]
        attempt, packet = reader.take(ATTEMPT_BYTES, "attempt"), reader.u32("packet")
        return cls(from_drone, attempt, packet, parse_frames(reader.rest(), from_drone=from_drone), datagram)

    def verifies(self, keys: FragmentKeys) -> bool:
        """Whether its tag was made with these keys."""
        half = keys.drone if self.from_drone else keys.gcs
        return same(hmac(half, self.raw[:-TAG_BYTES])[:TAG_BYTES], self.raw[-TAG_BYTES:])


def seal_datagram(keys: FragmentKeys, *, is_drone: bool, attempt: bytes, packet: int, frames: bytes) -> bytes:
    """A whole handshake datagram around packed frames."""
    text = u8(TYPE_DRONE if is_drone else TYPE_GCS) + attempt + u32(packet) + frames
    return text + hmac(keys.drone if is_drone else keys.gcs, text)[:TAG_BYTES]


def seal_retry(keys: FragmentKeys, attempt: bytes, cookie: bytes) -> bytes:
    """A Retry."""
    text = u8(TYPE_RETRY) + attempt + cookie
    return text + hmac(keys.gcs, text)[:RETRY_TAG_BYTES]


def parse_retry(datagram: bytes) -> tuple[bytes, bytes]:
    """(attempt, cookie); the tag is not verified yet. Raises MalformedError."""
    if len(datagram) != RETRY_BYTES:
        raise MalformedError(f"a Retry of {len(datagram)} bytes")
    return datagram[1:9], datagram[9:41]


def retry_verifies(datagram: bytes, keys: FragmentKeys) -> bool:
    """Whether a Retry's tag was made with these keys."""
    return same(hmac(keys.gcs, datagram[:-RETRY_TAG_BYTES])[:RETRY_TAG_BYTES], datagram[-RETRY_TAG_BYTES:])


def restart_datagram(session_id: bytes, token: bytes) -> bytes:
    """A Restart."""
    return u8(TYPE_RESTART) + session_id + token


def parse_restart(datagram: bytes) -> tuple[bytes, bytes]:
    """(session_id, token). Raises MalformedError."""
    if len(datagram) != RESTART_BYTES:
        raise MalformedError(f"a Restart of {len(datagram)} bytes")
    return datagram[1:9], datagram[-TOKEN_BYTES:]
