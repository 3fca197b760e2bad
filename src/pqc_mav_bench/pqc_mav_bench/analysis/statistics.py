# SPDX-License-Identifier: Apache-2.0
"""The statistics of this project: order statistics and their intervals, correlation, the Wilson interval, Phi."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pqc_mav_common.delay_classes import classes_of

#: Standard normal quantile of a two-sided 95 % interval.
Z_95 = 1.959963984540054
#: Student's t quantile of a two-sided 95 % interval, by degrees of freedom.
T_95 = {
    1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 12: 2.179,
    15: 2.131, 20: 2.086, 30: 2.042, 40: 2.021, 60: 2.000, 120: 1.980,
}  # fmt: skip


#: With fewer samples no pair of them encloses the median in 95 of 100 cases: 1 - 2 / 2^6 = 0.969.
FEWEST_FOR_AN_INTERVAL = 6


@dataclass(frozen=True)
class Summary:
    """Order statistics of one group, in the unit of its values. NaN where the group is too small (n = 0; std: n <
    2)."""

    n: int
    mean: float
    median: float
    p95: float
    minimum: float
    maximum: float
    q1: float
    q3: float
    std: float


@dataclass(frozen=True)
class Box:
    """A box plot's parts: whiskers end at the farthest value within 1.5 interquartile ranges of the box."""

    low: float
    q1: float
    median: float
    q3: float
    high: float
    outliers: tuple[float, ...]


def finite(values: Iterable[float]) -> NDArray[np.float64]:
    """The finite values as a float array, in their order: what was not measured is left out, never counted as zero."""
    array: NDArray[np.float64] = np.asarray(
        [math.nan if value is None else value for value in values], dtype=np.float64
    )
    return array[np.isfinite(array)]


def summarise(values: Iterable[float]) -> Summary:
    """Order statistics of the finite values. Percentiles interpolate linearly (numpy's default, as pandas and
    Excel)."""
    data = finite(values)
    if data.size == 0:
        return Summary(0, *(math.nan,) * 8)
    q1, median, q3, p95 = (float(q) for q in np.percentile(data, (25, 50, 75, 95)))
    std = float(data.std(ddof=1)) if data.size > 1 else math.nan
    return Summary(int(data.size), float(data.mean()), median, p95, float(data.min()), float(data.max()), q1, q3, std)


def box(values: Iterable[float]) -> Box:
    """A box plot's parts. Raises ValueError without a finite value."""
    data = np.sort(finite(values))
    if data.size == 0:
        raise ValueError("a box plot needs at least one finite value")
    q1, median, q3 = (float(q) for q in np.percentile(data, (25, 50, 75)))
    reach = 1.5 * (q3 - q1)
    inside = data[(data >= q1 - reach) & (data <= q3 + reach)]
    outside = data[(data < q1 - reach) | (data > q3 + reach)]
    # A quartile lies between two values, and the one outside it may be an outlier: the whisker then ends at the box.
    low, high = min(float(inside.min()), q1), max(float(inside.max()), q3)
    return Box(low, q1, median, q3, high, tuple(float(v) for v in outside))


def median_ranks(n: int, confidence: float = 0.95) -> tuple[int, int]:
    """Ranks (from 1) whose order statistics enclose the median with at least this confidence.

    The number of samples below the median is binomial (n, 1/2). For few samples the interval is (1, n), with the
    confidence that n allows. Raises ValueError for n < 1 or a confidence outside (0, 1).
    """
    if n < 1 or not 0 < confidence < 1:
        raise ValueError("a median interval needs a finite value and a confidence between 0 and 1")
    tail, low = 0.0, 0
    # Largest rank whose lower binomial tail stays within half of the allowed error.
    while low < n // 2:
        tail += math.exp(math.lgamma(n + 1) - math.lgamma(low + 1) - math.lgamma(n - low + 1) - n * math.log(2))
        if 2 * tail > 1 - confidence:
            break
        low += 1
    low = max(1, low)
    return low, n + 1 - low


def median_interval(values: Iterable[float], confidence: float = 0.95) -> tuple[float, float]:
    """Distribution-free confidence interval of the median of the finite values.

    Raises ValueError without a finite value or with a confidence outside (0, 1).
    """
    data = np.sort(finite(values))
    low, high = median_ranks(int(data.size), confidence)
    return float(data[low - 1]), float(data[high - 1])


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean and half the width of its 95 % interval by Student's t; half is NaN where one value tells of no spread.

    Between the degrees of freedom of the table the smaller one is taken, which errs on the wide side. Raises
    ValueError without a value.
    """
    if not values:
        raise ValueError("a mean needs a value")
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, math.nan
    t = T_95[max(known for known in T_95 if known < len(values))]
    return mean, t * float(np.std(values, ddof=1)) / math.sqrt(len(values))


def shown_mean(values: Sequence[float], digits: int = 1) -> str:
    """The mean with its 95 % interval; alone where one value says nothing about the spread."""
    mean, half = mean_interval(values)
    return f"{mean:.{digits}f}" if math.isnan(half) else f"{mean:.{digits}f} ± {half:.{digits}f}"


def wilson(failures: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """Wilson score interval of a proportion (Wilson, JASA 22, 1927). Raises ValueError for impossible counts."""
    if not 0 <= failures <= trials or trials == 0:
        raise ValueError(f"{failures} of {trials} is no proportion")
    share = failures / trials
    scale = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return (0.0 if failures == 0 else max(0.0, middle - half), 1.0 if failures == trials else min(1.0, middle + half))


def phi(handshake_s: float, interval_s: float) -> float:
    """Rekey overhead Phi(R) = T_hs / (R + T_hs): share of time spent in handshakes when keys change every R seconds."""
    if handshake_s < 0 or interval_s <= 0:
        raise ValueError("Phi needs a handshake time >= 0 and an interval > 0")
    return handshake_s / (interval_s + handshake_s)


def delays(milliseconds: Sequence[float]) -> dict[str, Any]:
    """count, mean, p50, p95, p99, max and counts by class of measured delays; without any, the first six are None."""
    if len(milliseconds) == 0:
        names = ("mean_ms", "p50_ms", "p95_ms", "p99_ms", "max_ms")
        return {"count": 0, **dict.fromkeys(names), "classes": {}}
    values = np.asarray(milliseconds, dtype=np.float64)
    p50, p95, p99 = np.percentile(values, (50, 95, 99))
    return {
        "count": len(values),
        "mean_ms": float(values.mean()),
        "p50_ms": float(p50),
        "p95_ms": float(p95),
        "p99_ms": float(p99),
        "max_ms": float(values.max()),
        "classes": classes_of(milliseconds),
    }
