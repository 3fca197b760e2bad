# SPDX-License-Identifier: Apache-2.0
"""Counts the outages of a link one by one, from reports that only say how many there were in the last few seconds."""

WINDOW_S = 5.0  # of LinkQuality.msg


class BlackoutCounter:
    """Remembers when each outage was first seen. Times are seconds of one monotonic clock.

    A report counts the outages of a sliding window; those beyond the outages already seen within the window are new.
    An outage that lasts longer than the window is counted again for every window it fills.
    """

    def __init__(self, keep_s: float) -> None:
        self._keep_s = keep_s
        self._seen: list[float] = []

    def report(self, at_s: float, in_window: int) -> None:
        """A report made at `at_s`. Late repetitions of an older report change nothing."""
        self._seen = [time for time in self._seen if at_s - time < self._keep_s]
        known = sum(1 for time in self._seen if at_s - time < WINDOW_S)
        self._seen += [at_s] * max(0, in_window - known)

    def since(self, start_s: float, now_s: float) -> int:
        """Outages first seen after `start_s` and not longer ago than `keep_s`."""
        return sum(1 for time in self._seen if time > start_s and now_s - time < self._keep_s)
