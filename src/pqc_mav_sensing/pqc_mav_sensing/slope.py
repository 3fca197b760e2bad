# SPDX-License-Identifier: Apache-2.0
"""Slope of a signal over a sliding window by least squares. No clock of its own: the time of each value is given."""

import math
from collections import deque


class SlidingWindow:
    """What came in the last `window_s` seconds, each with its time.

    It is too little for a slope until it spans `least_s` (half the window unless given) and is three times something:
    the slope of a short piece is mostly noise.
    """

    def __init__(self, window_s: float, least_s: float | None = None) -> None:
        if window_s <= 0:
            raise ValueError(f"window of {window_s:g} s: must be positive")
        self._window_s = window_s
        self._least_s = window_s / 2 if least_s is None else least_s
        self._points: deque[tuple[float, ...]] = deque()

    def clear(self) -> None:
        """Forget everything: what comes next does not continue what was."""
        self._points.clear()

    def _take(self, at_s: float, *values: float) -> None:
        if not self._points or at_s > self._points[-1][0]:
            self._points.append((at_s, *values))
            self._forget(at_s)

    def _enough(self, now_s: float) -> bool:
        self._forget(now_s)
        return len(self._points) >= 3 and self._points[-1][0] - self._points[0][0] >= self._least_s

    def _forget(self, now_s: float) -> None:
        while self._points and now_s - self._points[0][0] > self._window_s:
            self._points.popleft()


class SlidingSlope(SlidingWindow):
    """Least-squares slope of the values of the window, in units per minute."""

    def add(self, at_s: float, value: float) -> None:
        """Take one value; one that is not newer than the last is ignored."""
        if math.isfinite(value):
            self._take(at_s, value)

    def per_minute(self, now_s: float) -> float:
        """The slope at `now_s` in units per minute; NaN when too little is known."""
        if not self._enough(now_s):
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
        count = len(self._points)
        return 60.0 * (count * sum_tv - sum_t * sum_v) / (count * sum_tt - sum_t * sum_t)
