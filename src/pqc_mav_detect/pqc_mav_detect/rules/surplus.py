# SPDX-License-Identifier: Apache-2.0
"""A one-sided cumulative sum (Page 1954): what lies above an allowance adds up, what lies below takes away. Pure."""

from dataclasses import dataclass

MOST = 10.0  # limits; more would only delay the end
REST_S = 4.0  # without anything above the allowance for this long, it is over


@dataclass(frozen=True)
class Threshold:
    """`allowance` in the channel's unit, `limit` in that times seconds."""

    allowance: float
    limit: float


class Surplus:
    """The sum of one channel, `most` limits at most. It presses once it has grown for `lasts_s` or longer."""

    def __init__(self, threshold: Threshold, most: float = MOST, lasts_s: float = 0.0) -> None:
        self.threshold = threshold
        self._most = most
        self._lasts_s = lasts_s
        self.value = 0.0
        self.since_s = 0.0  # when it last began to grow
        self._above_s = 0.0

    @property
    def pressure(self) -> float:
        """1 at the limit."""
        return self.value / self.threshold.limit if self._above_s - self.since_s >= self._lasts_s else 0.0

    def add(self, value: float, span_s: float, now_s: float) -> float:
        """Take the next value, which stood for `span_s` up to now. Returns the pressure."""
        step = (value - self.threshold.allowance) * span_s
        if step > 0:
            if self.value == 0.0:
                self.since_s = now_s - span_s
            self._above_s = now_s
        elif now_s - self._above_s > REST_S:
            self.value = 0.0
        self.value = min(max(0.0, self.value + step), self._most * self.threshold.limit)
        return self.pressure

    def reset(self) -> None:
        """Begin anew."""
        self.value = 0.0
