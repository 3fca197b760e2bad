# SPDX-License-Identifier: Apache-2.0
"""Slope of a signal over a sliding window by least squares. No clock of its own: the time of each value is given."""

import math
from collections import deque


class SlidingSlope:
    """Least-squares slope of the values of the last `window_s` seconds, in units per minute.

    The slope is NaN until the values span `least_s` (half the window unless given) and there are three of them: the
    slope of a short piece is mostly noise.
    """

    def __init__(self, window_s: float, least_s: float | None = None) -> None:
        if window_s <= 0:
            raise ValueError(f"window of {window_s:g} s: must be positive")
        self._window_s = window_s
        self._least_s = window_s / 2 if least_s is None else least_s
        self._points: deque[tuple[float, float]] = deque()

    def add(self, at_s: float, value: float) -> None:
        """Take one value; one that is not newer than the last is ignored."""
        if not math.isfinite(value) or (self._points and at_s <= self._points[-1][0]):
            return
        self._points.append((at_s, value))
        self._forget(at_s)

    def clear(self) -> None:
        """Forget everything: what comes next does not continue what was."""
        self._points.clear()

    def per_minute(self, now_s: float) -> float:
        """The slope at `now_s` in units per minute; NaN when too little is known."""
        self._forget(now_s)
        count = len(self._points)
        if count < 3 or self._points[-1][0] - self._points[0][0] < self._least_s:
            return math.nan
        # Counted from the first point on, so that the sums stay small.
        first_t, first_v = self._points[0]
        sum_t = sum_v = sum_tt = sum_tv = 0.0
        for at_s, value in self._points:
            t, v = at_s - first_t, value - first_v
            sum_t += t
            sum_v += v
            sum_tt += t * t
            sum_tv += t * v
        return 60.0 * (count * sum_tv - sum_t * sum_v) / (count * sum_tt - sum_t * sum_t)

    def _forget(self, now_s: float) -> None:
        while self._points and now_s - self._points[0][0] > self._window_s:
            self._points.popleft()
