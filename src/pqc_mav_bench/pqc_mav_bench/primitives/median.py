"""Statistics of timed samples that assume nothing about their distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pqc_mav_bench.numbers import Z_95

_EXACT_UP_TO = 1000  # beyond, 0.5 ** n leaves the range of doubles


def median_ranks(n: int, confidence: float = 0.95) -> tuple[int, int]:
    """Ranks (from 1) whose order statistics enclose the median with at least this confidence.

    The number of samples below the median is binomial (n, 1/2). For few samples the interval is (1, n), with the
    confidence that n allows. Raises ValueError for n < 1.
    """
    if n < 1:
        raise ValueError("a median needs samples")
    if n > _EXACT_UP_TO:
        half = Z_95 * math.sqrt(n) / 2
        return max(1, math.floor((n + 1) / 2 - half)), min(n, math.ceil((n + 1) / 2 + half))
    tail, low = 0.0, 0
    while low < n // 2:
        tail += math.comb(n, low) * 0.5**n
        if 2 * tail > 1 - confidence:
            break
        low += 1
    low = max(1, low)
    return low, n + 1 - low


def describe(samples: Sequence[float]) -> dict[str, float | int]:
    """n, median with its 95 % interval, mean, standard deviation, extremes and percentiles; units as the samples'."""
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    low, high = median_ranks(len(ordered))
    p5, p95 = np.percentile(ordered, (5, 95))
    return {
        "n": len(ordered),
        "median": float(np.median(ordered)),
        "ci_low": float(ordered[low - 1]),
        "ci_high": float(ordered[high - 1]),
        "mean": float(ordered.mean()),
        "std": float(ordered.std(ddof=1)) if len(ordered) > 1 else 0.0,
        "min": float(ordered[0]),
        "p5": float(p5),
        "p95": float(p95),
        "max": float(ordered[-1]),
    }
