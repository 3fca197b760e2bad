# SPDX-License-Identifier: Apache-2.0
"""Tells a process that had no processor from a peer that says nothing. Pure.

After such a stop a timer may ring before what has arrived meanwhile is read. By the clock everything is old then, and
none of it need be: the readings wait in a queue of this very process.
"""

USUAL_S = 0.1  # timers are late by so much
MOST_S = 5.0  # a longer stop is told as what it is: nothing is known


class OwnLateness:
    """Of one timer. Times are seconds of a monotonic clock."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._last_s: float | None = None

    def judged_s(self, now_s: float) -> float:
        """At each ring: the time at which to judge how old things are. Earlier than now by what the ring is late."""
        late_s = 0.0 if self._last_s is None else now_s - self._last_s - self._every_s
        self._last_s = now_s
        return now_s - late_s if USUAL_S < late_s <= MOST_S else now_s
