# SPDX-License-Identifier: Apache-2.0
"""When to decide: once a second, and right after the ground station's report of the link has come in.

Three clocks of 1 Hz make, publish and judge the report. Left alone, their phases can be such that a report is always
nearly 2 s old when it is judged, and the policy would hold for stale telemetry on a perfect link.
"""

# While reports come in, the clock decides only when one is late.
LATE = 1.25
EARLY = 0.75
# Without a report for this many periods the clock alone decides.
LOST = 3.0


class Pace:
    """Times are seconds of one monotonic clock; `period_s` is the time between decisions."""

    def __init__(self, period_s: float, now: float) -> None:
        self.period_s = period_s
        self._last_s = now
        self._report_s: float | None = None

    def on_report(self, now: float) -> bool:
        """A report came in: whether to decide now."""
        self._report_s = now
        return self._due(now, EARLY)

    def on_clock(self, now: float) -> bool:
        """Asked several times a period: whether to decide now."""
        reported = self._report_s is not None and now - self._report_s < LOST * self.period_s
        return self._due(now, LATE if reported else 1.0)

    def _due(self, now: float, after: float) -> bool:
        if now - self._last_s < after * self.period_s:
            return False
        self._last_s = now
        return True
