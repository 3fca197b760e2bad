"""Order statistics of groups of measurements: what every table and box plot of the report is made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray


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

    @property
    def iqr(self) -> float:
        """Interquartile range, the height of a box plot's box."""
        return self.q3 - self.q1


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


def summarise_by(table: pd.DataFrame, key: str, value: str) -> dict[object, Summary]:
    """Summaries of column `value` for each value of column `key`, by rising key; groups without a finite value are
    absent."""
    groups = {name: summarise(group[value]) for name, group in table.groupby(key, sort=True)}
    return {name: summary for name, summary in groups.items() if summary.n}


def box(values: Iterable[float]) -> Box:
    """A box plot's parts. Raises ValueError without a finite value."""
    data = np.sort(finite(values))
    if data.size == 0:
        raise ValueError("a box plot needs at least one finite value")
    q1, median, q3 = (float(q) for q in np.percentile(data, (25, 50, 75)))
    reach = 1.5 * (q3 - q1)
    inside = data[(data >= q1 - reach) & (data <= q3 + reach)]
    outside = data[(data < q1 - reach) | (data > q3 + reach)]
    return Box(float(inside.min()), q1, median, q3, float(inside.max()), tuple(float(v) for v in outside))


def weighted_mean(means: Sequence[float], counts: Sequence[float]) -> float:
    """Mean over groups from their means and sizes. Raises ValueError when the lengths differ or all sizes are zero."""
    if len(means) != len(counts) or not sum(counts):
        raise ValueError("a weighted mean needs as many sizes as means, and a positive total")
    return sum(mean * count for mean, count in zip(means, counts, strict=True)) / sum(counts)


def median_interval(values: Iterable[float], confidence: float = 0.95) -> tuple[float, float]:
    """Distribution-free confidence interval of the median from order statistics (binomial); the range when n is small.

    Raises ValueError without a finite value or with a confidence outside (0, 1).
    """
    data = np.sort(finite(values))
    if data.size == 0 or not 0 < confidence < 1:
        raise ValueError("a median interval needs a finite value and a confidence between 0 and 1")
    n, tail = int(data.size), 0.0
    lower = 0
    # Largest rank whose lower binomial tail stays within half of the allowed error.
    for k in range(n // 2):
        tail += math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2))
        if tail > (1 - confidence) / 2:
            break
        lower = k
    return float(data[lower]), float(data[n - 1 - lower])


def rank(table: pd.DataFrame, column: str, ascending: bool = True) -> pd.DataFrame:
    """Rows with a finite `column`, sorted by it, with a 1-based column `rank`; equal values keep the table's order."""
    kept = table[np.isfinite(pd.to_numeric(table[column], errors="coerce"))]
    ordered = kept.sort_values(column, ascending=ascending, kind="stable").reset_index(drop=True)
    return ordered.assign(rank=np.arange(1, len(ordered) + 1))


def spearman(x: Iterable[float], y: Iterable[float]) -> float:
    """Rank correlation (ties share their mean rank); NaN with fewer than two pairs or a constant side."""
    frame = pd.DataFrame({"x": list(x), "y": list(y)}, dtype=float).dropna()
    return pearson(frame["x"].rank(), frame["y"].rank())


def pearson(x: Iterable[float], y: Iterable[float]) -> float:
    """Linear correlation; NaN with fewer than two pairs or a constant side."""
    frame = pd.DataFrame({"x": list(x), "y": list(y)}, dtype=float).dropna()
    if len(frame) < 2 or frame["x"].nunique() < 2 or frame["y"].nunique() < 2:
        return math.nan
    return float(np.corrcoef(frame["x"], frame["y"])[0, 1])
