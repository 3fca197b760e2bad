# SPDX-License-Identifier: Apache-2.0
"""Power and energy over the data time, out of the sensing node's samples (ten a second, each a summary of many)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def summarise(readings: Sequence[tuple[float, Any]], begin_s: float, end_s: float) -> dict[str, Any]:
    """Fields of PowerEnergy for the window; {} when no valid reading covers it.

    `readings`: when the interval of a PowerSample ended, on this process's monotonic clock, and the message.
    Energy is the difference of the node's running integral, interpolated at both ends of the window, so windows that
    follow each other add up. Peaks and minima are of the readings that overlap the window.
    """
    valid = [(at_s, r) for at_s, r in readings if r.valid and math.isfinite(r.power_mean_w)]
    inside = [r for at_s, r in valid if at_s > begin_s and at_s - r.interval_s < end_s]
    if not inside or end_s <= begin_s:
        return {}
    times = [at_s for at_s, _ in valid]
    integral = [r.energy_j for _, r in valid]
    earliest = valid[0][1]
    first, last = max(begin_s, times[0] - earliest.interval_s), min(end_s, times[-1])
    if last <= first:
        return {}
    # The integral at the start of the first reading: what it added is its mean power times its length.
    times.insert(0, times[0] - earliest.interval_s)
    integral.insert(0, integral[0] - earliest.power_mean_w * earliest.interval_s)
    energy = float(np.interp(last, times, integral) - np.interp(first, times, integral))
    weights = [max(r.interval_s, 1e-9) for r in inside]
    return {
        "power_source": inside[-1].source,
        "measured": all(r.measured for r in inside),
        "duration_s": last - first,
        "power_mean_w": energy / (last - first),
        "power_peak_w": max(r.power_peak_w for r in inside),
        "power_min_w": min(r.power_min_w for r in inside),
        "energy_j": energy,
        "voltage_v": _mean([r.voltage_v for r in inside], weights),
        "current_a": _mean([r.current_a for r in inside], weights),
        "samples": sum(r.samples for r in inside),
        "rate_hz": _mean([r.rate_hz for r in inside], weights),
        "duplicates": sum(r.duplicates for r in inside),
        "errors": sum(r.errors for at_s, r in readings if begin_s < at_s <= end_s),
    }


def _mean(values: Sequence[float], weights: Sequence[float]) -> float | None:
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if math.isfinite(value)]
    if not known:
        return None
    return sum(value * weight for value, weight in known) / sum(weight for _, weight in known)
