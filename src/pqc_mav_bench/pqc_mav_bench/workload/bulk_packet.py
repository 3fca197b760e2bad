# SPDX-License-Identifier: Apache-2.0
"""Packets of the bulk workload, and what a receiver learns from their numbers.

Layout, big-endian: magic "PQMB", kind (1), flags (1), 2 unused, run (4), sequence (4), time stamp of the sender in
nanoseconds of its monotonic clock (8); padded with zeros to the size asked for. `run` keeps stragglers of an earlier
run out of this one's counts.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

MAGIC = b"PQMB"
_HEADER = struct.Struct(">4sBBxxIIq")
HEADER_BYTES = _HEADER.size
WANT_ECHO = 1


class Kind(IntEnum):
    """What a packet is for."""

    HELLO = 0  # tells the other end where to send to
    DATA = 1
    ECHO = 2  # answer to a packet that wanted one, with its sequence and time stamp


@dataclass(frozen=True)
class Packet:
    """A decoded packet."""

    kind: int
    flags: int
    run: int
    sequence: int
    stamp_ns: int


def encode(kind: Kind, run: int, sequence: int, stamp_ns: int, size: int, flags: int = 0) -> bytes:
    """A packet of `size` bytes, at least HEADER_BYTES."""
    return _HEADER.pack(MAGIC, kind, flags, run, sequence, stamp_ns).ljust(size, b"\0")


def decode(data: bytes) -> Packet | None:
    """None for anything that is not ours."""
    if len(data) < HEADER_BYTES:
        return None
    magic, kind, flags, run, sequence, stamp_ns = _HEADER.unpack_from(data)
    return Packet(kind, flags, run, sequence, stamp_ns) if magic == MAGIC else None


class SequenceMeter:
    """Counts different, repeated and overtaken packets by their sequence numbers, which start at 0."""

    LIMIT = 1 << 26  # 67 million packets; a number beyond is garbage, not a reason to fill the memory

    def __init__(self) -> None:
        self.received = 0
        self.duplicates = 0
        self.reordered = 0
        self.refused = 0
        self._highest = -1
        self._seen = bytearray(1 << 16)

    def record(self, sequence: int) -> bool:
        """Takes one packet in order of arrival; whether it is new."""
        if sequence >= self.LIMIT:
            self.refused += 1
            return False
        while sequence >= len(self._seen):
            self._seen += bytes(len(self._seen))
        if self._seen[sequence]:
            self.duplicates += 1
            return False
        self._seen[sequence] = 1
        self.received += 1
        if sequence < self._highest:
            self.reordered += 1
        else:
            self._highest = sequence
        return True
