# SPDX-License-Identifier: Apache-2.0
"""Suites in order of cost next to their published tier, and how well each order predicts handshake times.

Times: measured ones by suite, or the published computation of the primitives. [pqcmav-paper] claims r = 0.94 between
its tier and measured handshakes; its own level table (levels 1, 3, 5 in 503, 3178, 7613 ms by median) and ours differ.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation

from pqc_mav_policy.suite_cost import work_ms
from pqc_mav_policy.suite_order import SuiteOrder, octave, published_tier
from pqc_mav_policy.suites import Suite


@dataclass(frozen=True)
class SuiteRow:
    """One suite: rank in the order of cost, published tier (None outside it), computation and handshake [ms]."""

    suite: Suite
    rank: int
    octave: int
    tier: int | None
    work_ms: float
    handshake_ms: float | None


@dataclass(frozen=True)
class Agreement:
    """How an order agrees with handshake times: Pearson's r with the times and with their logarithm, Spearman's rho.

    `inversions` counts the pairs whose lighter member takes more than twice as long as the other, `pairs` all pairs.
    """

    order: str
    pearson: float
    pearson_log: float
    spearman: float
    inversions: int
    pairs: int


def rows(suites: Iterable[Suite], handshakes_ms: Mapping[str, float] | None = None) -> list[SuiteRow]:
    """From light to heavy, ranked among themselves."""
    measured = handshakes_ms or {}
    order = SuiteOrder(suites)
    return [
        SuiteRow(
            suite=suite,
            rank=order.rank(suite.id),
            octave=octave(suite),
            tier=published_tier(suite),
            work_ms=work_ms(suite.kem_token, suite.sig_token),
            handshake_ms=measured.get(suite.id),
        )
        for suite in order.suites
    ]


def agreements(table: Sequence[SuiteRow]) -> list[Agreement]:
    """Of the published tier and of the order of cost with the handshakes, or with the computation where none is there.

    Suites without a published tier are left out of both. Raises ValueError for fewer than three suites.
    """
    known = [row for row in table if row.tier is not None]
    measured = all(row.handshake_ms is not None for row in known)
    times = [row.handshake_ms if measured and row.handshake_ms is not None else row.work_ms for row in known]
    return [
        agreement("published tier", [float(row.tier or 0) for row in known], times),
        agreement("order of cost", [float(row.rank) for row in known], times),
    ]


def agreement(name: str, ranks: Sequence[float], times: Sequence[float]) -> Agreement:
    """Of one order with times (any unit, above 0). Raises ValueError for fewer than three or constant values."""
    inverted = sum(
        1 for a in range(len(ranks)) for b in range(len(ranks)) if ranks[a] < ranks[b] and times[a] > 2 * times[b]
    )
    logs = [math.log(time) for time in times]
    return Agreement(
        order=name,
        pearson=pearson(ranks, times),
        pearson_log=pearson(ranks, logs),
        spearman=pearson(fractional_ranks(ranks), fractional_ranks(times)),
        inversions=inverted,
        pairs=len(ranks) * (len(ranks) - 1) // 2,
    )


def pearson(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Pearson's correlation coefficient. Raises ValueError for fewer than three pairs or a constant side."""
    if len(xs) < 3 or len(xs) != len(ys):
        raise ValueError("a correlation needs at least three pairs")
    try:
        return correlation(xs, ys)
    except StatisticsError:
        raise ValueError("a correlation needs values that differ") from None


def fractional_ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 0 on; equal values share the mean of their ranks."""
    return [sum(each < value for each in values) + (values.count(value) - 1) / 2 for value in values]
