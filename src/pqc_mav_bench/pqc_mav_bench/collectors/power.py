# SPDX-License-Identifier: Apache-2.0
"""Power and energy over the data time, out of the sensing node's samples (ten a second, each a summary of many)."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

#: Of the data time. Of less, the rest may have drawn anything: a sensor is lost when much happens.
COVERED = 0.95


class Reading(NamedTuple):
    """What is kept of a PowerSample, and when its interval ended on this process's monotonic clock."""

    at_s: float
    interval_s: float
    valid: bool
    source: str
    measured: bool
    power_mean_w: float
    power_peak_w: float
    power_min_w: float
    voltage_v: float
    current_a: float
    samples: int
    rate_hz: float
    duplicates: int
    errors: int

    @classmethod
    def of(cls, message: Any, at_s: float) -> "Reading":
        """Of a message that has just come."""
        return cls(at_s, *(getattr(message, name) for name in cls._fields[1:]))

    def within_s(self, begin_s: float, end_s: float) -> float:
        """How much of the interval lies in a window."""
        return max(0.0, min(self.at_s, end_s) - max(self.at_s - self.interval_s, begin_s))


def summarise(readings: Sequence[Reading], begin_s: float, end_s: float) -> dict[str, Any]:
    """Fields of PowerEnergy for the window; {} unless valid readings of one source cover it.

    Each reading counts with that part of its interval that lies in the window, so windows that follow each other add
    up, and what no reading covers counts as the mean. Peaks and minima are of the readings that overlap the window.
    """
    inside = [r for r in readings if r.valid and math.isfinite(r.power_mean_w) and r.within_s(begin_s, end_s) > 0]
    weights = [r.within_s(begin_s, end_s) for r in inside]
    covered_s = sum(weights)
    if not inside or covered_s < COVERED * (end_s - begin_s) or len({r.source for r in inside}) > 1:
        return {}
    mean_w = _mean([r.power_mean_w for r in inside], weights)
    assert mean_w is not None
    return {
        "power_source": inside[0].source,
        "measured": inside[0].measured,
        "duration_s": covered_s,
        "power_mean_w": mean_w,
        "power_peak_w": max(r.power_peak_w for r in inside),
        "power_min_w": min(r.power_min_w for r in inside),
        "energy_j": mean_w * covered_s,
        "voltage_v": _mean([r.voltage_v for r in inside], weights),
        "current_a": _mean([r.current_a for r in inside], weights),
        "samples": sum(r.samples for r in inside),
        "rate_hz": _mean([r.rate_hz for r in inside], weights),
        "duplicates": sum(r.duplicates for r in inside),
        "errors": sum(r.errors for r in readings if begin_s < r.at_s <= end_s),
    }


def _mean(values: Sequence[float], weights: Sequence[float]) -> float | None:
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if math.isfinite(value)]
    if not known:
        return None
    return sum(value * weight for value, weight in known) / sum(weight for _, weight in known)
