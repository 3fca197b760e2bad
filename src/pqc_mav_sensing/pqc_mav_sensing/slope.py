# SPDX-License-Identifier: Apache-2.0
"""Slope of a signal over a sliding window by least squares. No clock of its own: the time of each value is given."""

from __future__ import annotations

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
        mean_t = sum(t for t, _ in self._points) / count
        mean_v = sum(v for _, v in self._points) / count
        spread = sum((t - mean_t) ** 2 for t, _ in self._points)
        return 60.0 * sum((t - mean_t) * (v - mean_v) for t, v in self._points) / spread

    def _forget(self, now_s: float) -> None:
        while self._points and now_s - self._points[0][0] > self._window_s:
            self._points.popleft()
