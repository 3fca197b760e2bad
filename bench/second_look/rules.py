# SPDX-License-Identifier: Apache-2.0
"""The statistics that docs/analysis-plan.md names, written from their definitions: nothing of the analysis is used."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from statistics import NormalDist, median, stdev

ALPHA = 0.05
#: Pairs from which the signed ranks can tell anything: all of five on one side have p = 2 / 2^5 = 0.06.
FEWEST = 6
_DRAWS = 200_000


@dataclass(frozen=True)
class Interval:
    """A figure and its 95 % interval; NaN where nothing tells how far runs differ."""

    figure: float
    low: float
    high: float

    def apart(self, other: Interval) -> bool:
        """Whether the two do not overlap."""
        return self.high < other.low or other.high < self.low


def of_runs(runs: Sequence[float]) -> Interval:
    """The median over runs.

    From six on between two order statistics: the rank r is the greatest for which fewer than r of n coins show heads in
    2.5 % of all cases at most. With fewer the runs' logarithms count as normal: the median times and over exp(k s).
    """
    values = sorted(runs)
    n, middle = len(values), median(values)
    if n == 1:
        return Interval(middle, math.nan, math.nan)
    if n >= 6:
        below, rank = 0.0, 0
        while (below := below + math.comb(n, rank) / 2**n) <= ALPHA / 2:
            rank += 1
        return Interval(middle, values[rank - 1], values[n - rank])
    reach = math.exp(_reach(n) * stdev([math.log(value) for value in values]))
    return Interval(middle, middle / reach, middle * reach)


@cache
def _reach(n: int) -> float:
    """The 95 % point of |median| / s over samples of n standard normal values, by drawing them."""
    dice = random.Random(n)
    drawn = []
    for _ in range(_DRAWS):
        sample = [dice.gauss(0, 1) for _ in range(n)]
        drawn.append(abs(median(sample)) / stdev(sample))
    return sorted(drawn)[math.ceil((1 - ALPHA) * _DRAWS) - 1]


@dataclass(frozen=True)
class Paired:
    """The typical ratio over pairs with its interval, and Wilcoxon's p, not corrected."""

    ratio: Interval
    p: float
    pairs: int


def wilcoxon(logarithms: Sequence[float]) -> Paired:
    """Of the logarithms of ratios, one a pair: the exact two-sided test (no ties among continuous times), and the
    Hodges-Lehmann figure with the interval that belongs to it."""
    sizes = sorted(range(len(logarithms)), key=lambda i: abs(logarithms[i]))
    positive = sum(rank for rank, i in enumerate(sizes, 1) if logarithms[i] > 0)
    ways = [1]
    for rank in range(1, len(sizes) + 1):  # in how many of the 2^n signs is the sum of ranks so large?
        more = [0] * (len(ways) + rank)
        for total, count in enumerate(ways):
            more[total] += count
            more[total + rank] += count
        ways = more
    signs, least = 2 ** len(sizes), min(positive, len(ways) - 1 - positive)
    p = min(1.0, 2 * sum(ways[: least + 1]) / signs)
    means = sorted((a + b) / 2 for a, b in combinations_with_replacement(logarithms, 2))
    left_out, below = 0, 0
    while (below := below + ways[left_out]) / signs <= ALPHA / 2:
        left_out += 1
    # At most so small a sum comes by chance: so many means are beyond either end.
    ends = means[max(0, left_out - 1)], means[len(means) - max(1, left_out)]
    return Paired(Interval(*(math.exp(each) for each in (median(means), *ends))), p, len(sizes))


def holm(chances: dict[str, float]) -> dict[str, float]:
    """Each comparison's p, corrected for all of its family (Holm, 1979)."""
    out, floor = {}, 0.0
    for done, name in enumerate(sorted(chances, key=chances.__getitem__)):
        floor = max(floor, min(1.0, (len(chances) - done) * chances[name]))
        out[name] = floor
    return out


def wilson(lost: int, sent: int) -> Interval:
    """The share that was lost (Wilson, 1927)."""
    z = NormalDist().inv_cdf(1 - ALPHA / 2)
    share, weight = lost / sent, 1 + z * z / sent
    middle = (share + z * z / (2 * sent)) / weight
    half = z / weight * math.sqrt(share * (1 - share) / sent + z * z / (4 * sent * sent))
    return Interval(share, max(0.0, middle - half) if lost else 0.0, min(1.0, middle + half))
