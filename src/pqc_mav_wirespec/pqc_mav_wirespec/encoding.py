# SPDX-License-Identifier: Apache-2.0
"""Integers, length-prefixed fields and frames (docs/protocol.md sections 1 and 4)."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from .errors import MalformedError

FRAME_HEADER_BYTES = 5


def u8(value: int) -> bytes:
    """One byte; `struct.error` when the value does not fit."""
    return struct.pack("!B", value)


def u16(value: int) -> bytes:
    """Two bytes, big-endian."""
    return struct.pack("!H", value)


def u24(value: int) -> bytes:
    """Three bytes, big-endian."""
    return u32(value)[1:] if value < 1 << 24 else struct.pack("!B", value)


def u32(value: int) -> bytes:
    """Four bytes, big-endian."""
    return struct.pack("!I", value)


def u64(value: int) -> bytes:
    """Eight bytes, big-endian."""
    return struct.pack("!Q", value)


def lp(value: bytes) -> bytes:
    """The length-prefixed form of a variable field: `u32 length || value`."""
    return u32(len(value)) + value


def frame(message_type: int, body: bytes) -> bytes:
    """A whole handshake frame: `u32 length | u8 type | body`, the length counting the body only."""
    return u32(len(body)) + u8(message_type) + body


class Reader:
    """Takes fields off the front of a byte string; every shortfall is a MalformedError naming the field."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int, field: str) -> bytes:
        """Exactly `count` bytes."""
        if count > len(self._data) - self._at:
            raise MalformedError(f"{field} needs {count} bytes and {len(self._data) - self._at} are left")
        self._at += count
        return self._data[self._at - count : self._at]

    def u8(self, field: str) -> int:
        """One byte as a number."""
        return self.take(1, field)[0]

    def u16(self, field: str) -> int:
        """Two bytes as a number."""
        return int.from_bytes(self.take(2, field), "big")

    def u24(self, field: str) -> int:
        """Three bytes as a number."""
        return int.from_bytes(self.take(3, field), "big")

    def u32(self, field: str) -> int:
        """Four bytes as a number."""
        return int.from_bytes(self.take(4, field), "big")

    def lp(self, field: str, shortest: int, longest: int) -> bytes:
        """A length-prefixed field of `shortest` to `longest` bytes."""
        length = self.u32(f"length of {field}")
        if not shortest <= length <= longest:
            raise MalformedError(f"{field} has {length} bytes, expected {shortest} to {longest}")
        return self.take(length, field)

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(self.left, "the rest")

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self._at

    def end(self) -> None:
        """Refuses bytes behind the last field."""
        if self._at != len(self._data):
            raise MalformedError(f"{len(self._data) - self._at} bytes behind the last field")


Limits = tuple[int, int]


def check_frame(whole_frame: bytes, allowed: Mapping[int, Limits]) -> None:
    """Refuses a frame whose type is not due, or whose length is wrong or not what its header says (MalformedError).

    `allowed` maps each message type that may come next to its shortest and longest body in bytes.
    """
    if len(whole_frame) < FRAME_HEADER_BYTES:
        raise MalformedError(f"a frame of {len(whole_frame)} bytes has no header")
    length, message_type = struct.unpack_from("!IB", whole_frame)
    limits = allowed.get(message_type)
    if limits is None:
        raise MalformedError(f"message type {message_type} came where one of {sorted(allowed)} was due")
    shortest, longest = limits
    if not shortest <= length <= longest:
        raise MalformedError(f"message type {message_type} announces {length} bytes, expected {shortest}-{longest}")
    if len(whole_frame) != FRAME_HEADER_BYTES + length:
        raise MalformedError(f"a frame of {len(whole_frame)} bytes announces {length} behind its header")


def frame_type(whole_frame: bytes) -> int:
    """The type byte of a whole frame."""
    return whole_frame[4]


def frame_body(whole_frame: bytes) -> bytes:
    """The body of a whole frame."""
    return whole_frame[FRAME_HEADER_BYTES:]
