# SPDX-License-Identifier: Apache-2.0
"""Counting what arrived: distinct, doubled, overtaken, misdelivered, and the silences between. No socket, no clock."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any


@dataclass
class Tally:
    """One stream (a drone and a way). Times in ns on one monotonic clock."""

    sent: int = 0
    send_errors: int = 0
    received: int = 0
    duplicates: int = 0
    reordered: int = 0
    longest_gap_ns: int = 0
    last_ns: int = 0
    kernel_dropped: int = 0
    _seen: bytearray = field(default_factory=bytearray, repr=False)
    _highest: int = -1

    def arrive(self, number: int, now_ns: int) -> bool:
        """Count message `number`; False when it was there before."""
        if number >= len(self._seen):
            self._seen.extend(bytes(max(number + 1 - len(self._seen), 4096)))
        if self._seen[number]:
            self.duplicates += 1
            return False
        self._seen[number] = 1
        self.received += 1
        if number < self._highest:
            self.reordered += 1
        else:
            self._highest = number
        if self.last_ns:
            self.longest_gap_ns = max(self.longest_gap_ns, now_ns - self.last_ns)
        self.last_ns = now_ns
        return True

    def take_longest_gap(self) -> int:
        """Return the longest gap (ns) since the last call and start anew."""
        gap, self.longest_gap_ns = self.longest_gap_ns, 0
        return gap

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, ready for JSON."""
        return {key: value for key, value in asdict(self).items() if not key.startswith("_")}


@dataclass(frozen=True)
class Arrival:
    """One line of the arrival log."""

    drone: int
    way: int
    number: int
    sent_ns: int
    arrived_ns: int


def recovered_ns(arrivals: Iterable[Arrival], way: int, from_ns: int) -> int | None:
    """Return when (ns) the first message sent at or after `from_ns` arrived that way; None if none did."""
    times = [each.arrived_ns for each in arrivals if each.way == way and each.sent_ns >= from_ns]
    return min(times) if times else None


def longest_gap_ns(arrivals: Iterable[Arrival], way: int) -> int:
    """Return the longest time (ns) between two arrivals that way."""
    times = sorted(each.arrived_ns for each in arrivals if each.way == way)
    return max((later - before for before, later in pairwise(times)), default=0)


def percentile(values: Iterable[float], share: float) -> float:
    """Return the smallest value that at least `share` (0..1) of the values do not exceed; NaN without values."""
    ordered = sorted(values)
    if not ordered:
        return float("nan")
    rank = math.ceil(share * len(ordered) - 1e-9)
    return ordered[min(max(rank, 1), len(ordered)) - 1]
