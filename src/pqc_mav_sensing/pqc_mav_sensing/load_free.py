# SPDX-License-Identifier: Apache-2.0
"""How fast a pack's voltage falls without its load: slope and resistance out of the same window of readings. Pure.

Readings are fitted by V = a + b t - R I. The slope b is that of the voltage without the drop R I, and R is what the
window itself shows: with an assumed resistance, a pack whose voltage does not drop under load would seem to rise when
the motors start and to fall after they stop, by volts per minute. Where the current hardly varies, nothing about R is
seen, and nothing depends on it; then the assumed one stays (ridge regression around it).
"""

import math

from pqc_mav_sensing.slope import SlidingWindow

# Weight of the assumed resistance: (20 mV of noise in a voltage / 20 mOhm of doubt about a resistance) squared. It also
# keeps a fall at constant power, where the current grows as the voltage falls, from being taken for a resistance.
DOUBT_A2 = 1.0
# No pack in flight has more than this many times what its chemistry suggests.
MOST_TIMES = 4.0


class LoadFreeSlope(SlidingWindow):
    """Slope of the load-free voltage over the last `window_s` seconds. Times are seconds of one monotonic clock."""

    def __init__(self, window_s: float, least_s: float, known_ohm: float = 0.0) -> None:
        """NaN until the readings span `least_s`; `known_ohm` above 0 was measured and is not estimated."""
        super().__init__(window_s, least_s)
        self._known_ohm = self.assumed_ohm = known_ohm

    def add(self, at_s: float, voltage_v: float, current_a: float) -> None:
        """Take one reading; one that is not newer than the last is ignored."""
        self._take(at_s, voltage_v, current_a)

    def fit(self, now_s: float) -> tuple[float, float]:
        """Slope [V/min] and resistance [ohm] at `now_s`; NaN when too little is known."""
        if not self._enough(now_s):
            return math.nan, math.nan
        count = len(self._points)
        mean_t, mean_v, mean_i = (sum(column) / count for column in zip(*self._points, strict=True))
        tt = ti = ii = tv = iv = 0.0
        for at_s, voltage_v, current_a in self._points:
            t, v, i = at_s - mean_t, voltage_v - mean_v, current_a - mean_i
            tt, ti, ii, tv, iv = tt + t * t, ti + t * i, ii + i * i, tv + t * v, iv + i * v
        ohm = self._known_ohm or self._estimated(tt, ti, ii, tv, iv)
        return 60.0 * (tv + ohm * ti) / tt, ohm

    def _estimated(self, tt: float, ti: float, ii: float, tv: float, iv: float) -> float:
        weight = ii + DOUBT_A2 - ti * ti / tt
        ohm = (DOUBT_A2 * self.assumed_ohm - iv + ti * tv / tt) / weight
        return min(max(0.0, ohm), MOST_TIMES * self.assumed_ohm)
