# SPDX-License-Identifier: Apache-2.0
"""How often something comes: the one measure of it that sensing's limits are made of. Pure.

It is the middle one of the last five gaps, so that neither one silence nor two that come together are how it comes.
Autopilots differ: PX4 sends BATTERY_STATUS every 2 s, ArduPilot as often as it was asked for.
"""

import math
from collections import deque
from statistics import median

GAPS, LEAST_GAPS = 5, 2


class Rhythm:
    """Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self.came_s = -math.inf  # when it last came
        self._gaps_s: deque[float] = deque(maxlen=GAPS)

    def heard(self, at_s: float) -> None:
        """It came."""
        if math.isfinite(self.came_s):
            self._gaps_s.append(at_s - self.came_s)
        self.came_s = at_s

    @property
    def gap_s(self) -> float:
        """The usual gap; 0 while too few were seen."""
        return median(self._gaps_s) if len(self._gaps_s) >= LEAST_GAPS else 0.0

    def limit_s(self, gaps: float, least_s: float, most_s: float) -> float:
        """So many usual gaps, within bounds."""
        return min(max(least_s, gaps * self.gap_s), most_s)
