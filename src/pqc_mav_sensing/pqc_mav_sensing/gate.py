# SPDX-License-Identifier: Apache-2.0
"""Lets plausible readings through and refuses the others, each with a reason. No clock of its own.

Three things speak against a reading: it lies outside of what the quantity can be; it jumps further from the last good
one than the quantity can in that time; or there is no fresh good one to compare with, and its predecessors do not
confirm it. So a single wrong value is never believed, neither amid good ones nor as the first after a silence.
"""

import math
from collections import deque
from dataclasses import dataclass

from pqc_mav_sensing.rhythm import Rhythm

# Readings that come no more often than every `stale_s` would each be too old for the next one to be compared with. So
# what counts as old follows from how they come: the usual gap times this, but no more than that times `stale_s`.
GAPS_STALE, MOST_STALE = 2.5, 5.0


@dataclass(frozen=True)
class GateLimits:
    """What is plausible.

    Attributes:
        low, high: range of the quantity, inclusive.
        jump: largest step between two readings that follow each other at once.
        jump_fraction: that step's part that grows with the reading: a fraction of the one before.
        jump_per_s: by how much that grows per second between them.
        stale_s: age at which the last good reading is no longer of use, if readings come more often than that.
        confirm: readings in a row that have to agree before the first of them is believed.
    """

    low: float
    high: float
    jump: float
    jump_per_s: float
    jump_fraction: float = 0.0
    stale_s: float = 2.0
    confirm: int = 3

    def follows(self, before: float, after: float, since_s: float) -> bool:
        """Whether the quantity can go from one value to the other in that time."""
        return abs(after - before) <= self.jump + self.jump_fraction * abs(before) + self.jump_per_s * max(0.0, since_s)


class Gate:
    """Judges the readings of one quantity in the order in which they arrive."""

    def __init__(self, name: str, unit: str, limits: GateLimits) -> None:
        self._name, self._unit, self._limits = name, unit, limits
        self._last: tuple[float, float] | None = None  # time and value of the newest good reading
        self._candidates: deque[tuple[float, float]] = deque(maxlen=limits.confirm)
        self._rhythm = Rhythm()
        self.refused = 0

    @property
    def last_s(self) -> float | None:
        """When the newest good reading was taken; None before the first."""
        return None if self._last is None else self._last[0]

    @property
    def stale_s(self) -> float:
        """Age at which the last good reading is no longer of use, as readings come now."""
        return self._rhythm.limit_s(GAPS_STALE, self._limits.stale_s, MOST_STALE * self._limits.stale_s)

    def age_s(self, now_s: float) -> float:
        """Age of the newest good reading; infinite before the first."""
        return math.inf if self._last is None else now_s - self._last[0]

    def judge(self, at_s: float, value: float) -> str:
        """Take one reading. Returns "" when it is good, else why it is refused, as one sentence."""
        self._rhythm.heard(at_s)
        reason = self._judge(at_s, value)
        if reason:
            self.refused += 1
        else:
            self._last = (at_s, value)
            self._candidates.clear()
        return reason

    def forget(self) -> None:
        """The next reading is of something else: it is confirmed first, and compared with nothing."""
        self._last = None
        self._candidates.clear()

    def refuse(self, reason: str) -> str:
        """Count a reading that was refused before it had a value. Returns `reason`."""
        self.refused += 1
        self._candidates.clear()
        return reason

    def _judge(self, at_s: float, value: float) -> str:
        limits = self._limits
        if not math.isfinite(value) or not limits.low <= value <= limits.high:
            self._candidates.clear()
            return (
                f"the {self._name} of {value:g} {self._unit} is outside of {limits.low:g} to {limits.high:g} "
                f"{self._unit}"
            )
        if self._last is not None and at_s - self._last[0] <= self.stale_s:
            if limits.follows(self._last[1], value, at_s - self._last[0]):
                return ""
            self._note(at_s, value)
            return f"the {self._name} jumped from {self._last[1]:g} to {value:g} {self._unit}"
        self._note(at_s, value)
        if len(self._candidates) < limits.confirm:
            return f"the {self._name} is not confirmed yet ({len(self._candidates)} of {limits.confirm} readings)"
        return ""

    def _note(self, at_s: float, value: float) -> None:
        """Keep a reading that others may confirm; those that do not agree with it are forgotten."""
        limits = self._limits
        if self._candidates:
            before_s, before = self._candidates[-1]
            since_s = at_s - before_s
            if since_s > self.stale_s or not limits.follows(before, value, since_s):
                self._candidates.clear()
        self._candidates.append((at_s, value))
