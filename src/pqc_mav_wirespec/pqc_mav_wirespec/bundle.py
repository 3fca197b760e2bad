# SPDX-License-Identifier: Apache-2.0
"""Several datagrams as the content of one frame (docs/protocol.md section 10)."""

from __future__ import annotations

from collections.abc import Iterable

from .encoding import Reader, u8, u16
from .errors import MalformedError

MOST = 64
LONGEST = 0x7FFF
SHORT = 0x80  # from this length on it takes two bytes


def encode(datagrams: Iterable[bytes]) -> bytes:
    """The content of a bundle. Raises MalformedError for none, too many, or one that is too long."""
    parts = list(datagrams)
    if not 1 <= len(parts) <= MOST or any(len(part) > LONGEST for part in parts):
        raise MalformedError(f"a bundle of {len(parts)} datagrams, or with one above {LONGEST} bytes")
    return b"".join((u8(len(part)) if len(part) < SHORT else u16(len(part) | SHORT << 8)) + part for part in parts)


def decode(content: bytes) -> tuple[bytes, ...]:
    """The datagrams in order. Raises MalformedError when any part is unusable: then all is."""
    reader, parts = Reader(content), []
    while reader.left:
        size = reader.u8("length")
        if size >= SHORT:
            size = (size & ~SHORT) << 8 | reader.u8("second byte of a length")
            if size < SHORT:
                raise MalformedError(f"the length {size} takes one byte, not two")
        parts.append(reader.take(size, "datagram"))
    if not 1 <= len(parts) <= MOST:
        raise MalformedError(f"a bundle of {len(parts)} datagrams; it takes 1 to {MOST}")
    return tuple(parts)
