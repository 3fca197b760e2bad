# SPDX-License-Identifier: Apache-2.0
"""The replay window (docs/protocol.md section 10)."""

from __future__ import annotations

import enum

DEFAULT_BITS = 1024
SMALLEST_BITS, LARGEST_BITS, STEP_BITS = 64, 8192, 64
SEQUENCE_LIMIT = 1 << 48


class Verdict(enum.Enum):
    """What the window says of a sequence number."""

    NEW = "new"
    OLD = "old"
    SEEN = "seen"


class ReplayWindow:
    """The `bits` newest sequence numbers: with highest H those from H - bits + 1 to H; everything lower is old.

    `check` changes nothing, so that a forged number cannot move the window; `accept` is for verified packets only.
    """

    def __init__(self, bits: int = DEFAULT_BITS) -> None:
        if not SMALLEST_BITS <= bits <= LARGEST_BITS or bits % STEP_BITS:
            raise ValueError(f"a window of {bits} bits: it takes a multiple of 64 from 64 to 8192")
        self._bits = bits
        self._seen: set[int] = set()
        self.highest = -1

    def check(self, sequence: int) -> Verdict:
        """Whether a packet with this number could still be accepted."""
        if sequence >= SEQUENCE_LIMIT or sequence <= self.highest - self._bits:
            return Verdict.OLD
        return Verdict.SEEN if sequence in self._seen else Verdict.NEW

    def accept(self, sequence: int) -> None:
        """Marks the number of a verified packet as seen and moves the window up to it."""
        self._seen.add(sequence)
        if sequence > self.highest:
            self.highest = sequence
            self._seen = {kept for kept in self._seen if kept > sequence - self._bits}
