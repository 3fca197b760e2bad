# SPDX-License-Identifier: Apache-2.0
"""Power and energy over the data time, out of the sensing node's samples (ten a second, each a summary of many)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class PowerReading:
    """One PowerSample and when its interval ended, on this process's monotonic clock."""

    at_s: float
    interval_s: float
    source: str
    measured: bool
    valid: bool
    voltage_v: float
    current_a: float
    mean_w: float
    min_w: float
    peak_w: float
    energy_j: float
    samples: int
    rate_hz: float
    duplicates: int
    errors: int


def summarise(readings: Sequence[PowerReading], begin_s: float, end_s: float) -> dict[str, Any]:
    """Fields of PowerEnergy for the window; {} when no valid reading covers it.

    Energy is the difference of the node's running integral, interpolated at both ends of the window, so windows that
    follow each other add up. Peaks and minima are of the readings that overlap the window.
    """
    valid = [reading for reading in readings if reading.valid]
    inside = [r for r in valid if r.at_s > begin_s and r.at_s - r.interval_s < end_s]
    if not inside or end_s <= begin_s:
        return {}
    times = [r.at_s for r in valid]
    integral = [r.energy_j for r in valid]
    first, last = max(begin_s, times[0] - valid[0].interval_s), min(end_s, times[-1])
    if last <= first:
        return {}
    # The integral at the start of the first reading: what it added is its mean power times its length.
    times.insert(0, times[0] - valid[0].interval_s)
    integral.insert(0, integral[0] - valid[0].mean_w * valid[0].interval_s)
    energy = float(np.interp(last, times, integral) - np.interp(first, times, integral))
    weights = [max(r.interval_s, 1e-9) for r in inside]
    return {
        "power_source": inside[-1].source,
        "measured": all(r.measured for r in inside),
        "duration_s": last - first,
        "power_mean_w": energy / (last - first),
        "power_peak_w": max(r.peak_w for r in inside),
        "power_min_w": min(r.min_w for r in inside),
        "energy_j": energy,
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
