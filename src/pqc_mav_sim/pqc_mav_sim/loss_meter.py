# SPDX-License-Identifier: Apache-2.0
"""Lost, doubled and reordered messages of one MAVLink sender, from the 8-bit sequence number alone. No clock.

The sequence is unwrapped into a growing number. A step of 1 to 127 ahead is progress, anything else is a straggler from
behind. After a silence long enough for the counter to have wrapped, the number of missing messages is taken as the
one congruent modulo 256 that fits the sender's pace best, and is reported as an estimate; the very next number
after a silence means that the sender paused, not that a multiple of 256 messages went missing.
"""

import math
from dataclasses import asdict, dataclass

_HALF = 128
_WINDOW = (1 << (_HALF + 1)) - 1
_PACE_TAU_S = 2.0
_PACE_MIN_SPAN_S = 0.2


@dataclass
class LossStats:
    """Counts of messages. received - duplicates + lost is what the sender sent from the first to the last one seen."""

    received: int = 0
    lost: int = 0
    lost_estimated: int = 0
    duplicates: int = 0
    reordered: int = 0
    max_gap: int = 0

    @property
    def loss_ratio(self) -> float:
        """Lost share of all distinct messages sent, 0..1."""
        distinct = self.received - self.duplicates + self.lost
        return self.lost / distinct if distinct else 0.0

    def to_dict(self) -> dict[str, int | float]:
        """Return all counts and the loss ratio, ready for JSON."""
        return {**asdict(self), "loss_ratio": self.loss_ratio}


class LossMeter:
    """Counts for one (system, component). Feed every message of it in order of arrival."""

    def __init__(self) -> None:
        self.stats = LossStats()
        self._first = 0
        self._highest = 0
        self._seen = 0
        self._last_t = 0.0
        self._steps = 0.0
        self._span = 0.0

    @property
    def pace_hz(self) -> float:
        """Messages/s the sender numbers (lost ones included), over about two seconds; 0 until it is known."""
        return self._steps / self._span if self._span >= _PACE_MIN_SPAN_S else 0.0

    def record(self, seq: int, t: float) -> None:
        """Take a message with sequence number seq (0..255) that arrived at t seconds (monotonic)."""
        stats = self.stats
        stats.received += 1
        if stats.received == 1:
            self._first = self._highest = seq
            self._seen = 1
            self._last_t = t
            return
        silence = max(t - self._last_t, 0.0)
        self._last_t = t
        ahead = (seq - self._highest) % 256
        expected = self.pace_hz * silence
        if expected >= _HALF and ahead != 1:
            step = ahead + 256 * max(0 if ahead else 1, round((expected - ahead) / 256))
            stats.lost_estimated += step - 1
            self._progress(step)
        elif ahead == 0:
            stats.duplicates += 1
        elif ahead < _HALF:
            self._progress(ahead)
            # a silence tells nothing about the pace, whether the sender paused or the link was down
            if expected < _HALF:
                self._update_pace(ahead, silence)
        else:
            self._straggler(256 - ahead)

    def _progress(self, step: int) -> None:
        stats = self.stats
        stats.lost += step - 1
        stats.max_gap = max(stats.max_gap, step - 1)
        self._highest += step
        self._seen = (self._seen << min(step, _HALF + 1) | 1) & _WINDOW

    def _straggler(self, behind: int) -> None:
        number = self._highest - behind
        if number < self._first:
            self.stats.reordered += 1
            self.stats.lost += self._first - number - 1
            self._first = number
            self._seen |= 1 << behind
        elif self._seen >> behind & 1:
            self.stats.duplicates += 1
        else:
            self._seen |= 1 << behind
            self.stats.reordered += 1
            self.stats.lost -= 1

    def _update_pace(self, steps: int, silence: float) -> None:
        decay = math.exp(-silence / _PACE_TAU_S)
        self._steps = self._steps * decay + steps
        self._span = self._span * decay + silence
