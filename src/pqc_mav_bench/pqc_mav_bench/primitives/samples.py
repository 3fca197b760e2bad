# SPDX-License-Identifier: Apache-2.0
"""Statistics of timed samples that assume nothing about their distribution."""

from collections.abc import Sequence

import numpy as np

from pqc_mav_bench.analysis.statistics import median_interval


def describe(samples: Sequence[float]) -> dict[str, float | int]:
    """n, median with its 95 % interval, mean, standard deviation, extremes and percentiles; units as the samples'."""
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    low, high = median_interval(ordered)
    p5, p95 = np.percentile(ordered, (5, 95))
    return {
        "n": len(ordered),
        "median": float(np.median(ordered)),
        "ci_low": low,
        "ci_high": high,
        "mean": float(ordered.mean()),
        "std": float(ordered.std(ddof=1)) if len(ordered) > 1 else 0.0,
        "min": float(ordered[0]),
        "p5": float(p5),
        "p95": float(p95),
        "max": float(ordered[-1]),
    }
