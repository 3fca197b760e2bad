# SPDX-License-Identifier: Apache-2.0
"""A figure with its 95 % interval, and what several of them allow to say: which is the least, and what is a tie.

Two figures are told apart by the rule of `intervals`. A figure without an interval is never told apart from another.
Sizes, and figures as the documents printed them, are exact: their interval is the figure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pqc_mav_bench.analysis.intervals import HIGH, LOW, is_ranked, run_median
from pqc_mav_bench.analysis.statistics import FEWEST_FOR_AN_INTERVAL, finite, median_interval

#: Pairs of KEM and signature from which there is an interval.
FEWEST_PAIRS = 6


@dataclass(frozen=True)
class Estimate:
    """A figure and the ends of its 95 % interval, in one unit; NaN ends where there are too few values for one."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """A figure that needs no interval: a size, or what a document printed."""
        return cls(value, value, value)

    @property
    def has_interval(self) -> bool:
        """Whether both ends are known."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def is_exact(self) -> bool:
        """Whether the interval is the figure itself."""
        return self.low == self.value == self.high

    def below(self, other: Estimate) -> bool:
        """Whether it is surely less than another one."""
        return self.high < other.low


def known(values: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Those that have a figure."""
    return {name: each for name, each in values.items() if math.isfinite(each.value)}


def least(values: Mapping[str, Estimate]) -> list[str]:
    """The name with the least figure, then those that cannot be told apart from it."""
    found = known(values)
    first = min(found, key=lambda name: found[name].value)
    return [first, *(name for name, each in found.items() if name != first and not found[first].below(each))]


def most(values: Mapping[str, Estimate]) -> list[str]:
    """The name with the greatest figure, then those that cannot be told apart from it."""
    found = known(values)
    last = max(found, key=lambda name: found[name].value)
    return [last, *(name for name, each in found.items() if name != last and not each.below(found[last]))]


def span_ratio(values: Mapping[str, Estimate]) -> Estimate:
    """Greatest over least figure. Its interval is the widest that those of the figures allow; NaN without two of
    them, or where one is not positive."""
    found = list(known(values).values())
    if len(found) < 2 or min(each.value for each in found) <= 0:
        return Estimate(math.nan)
    value = max(each.value for each in found) / min(each.value for each in found)
    if not all(each.has_interval and each.low > 0 for each in found):
        return Estimate(value)
    nearest = max(each.low for each in found) / min(each.high for each in found)
    return Estimate(value, max(1.0, nearest), max(each.high for each in found) / min(each.low for each in found))


def span_gap(values: Mapping[str, Estimate]) -> Estimate:
    """Greatest less least figure, with the widest interval that those of the figures allow; NaN without two of them."""
    found = list(known(values).values())
    if len(found) < 2:
        return Estimate(math.nan)
    value = max(each.value for each in found) - min(each.value for each in found)
    if not all(each.has_interval for each in found):
        return Estimate(value)
    nearest = max(each.low for each in found) - min(each.high for each in found)
    return Estimate(value, max(0.0, nearest), max(each.high for each in found) - min(each.low for each in found))


def of_suites(rows: pd.DataFrame, how: str = "median") -> Estimate:
    """'median', 'mean', 'min' or 'max' of the handshakes of a group of suites [ms].

    The suites of a group are given, not drawn: what is uncertain is each one's own median. All four statistics rise
    with every figure that they are of, so they of the lower ends and of the upper ones enclose theirs. Published
    suites are exact; a group with a suite that has too few handshakes has no interval.
    """
    found = rows.dropna(subset=["handshake_ms"])
    if found.empty:
        return Estimate(math.nan)
    value = float(found["handshake_ms"].agg(how))
    if LOW not in found.columns:
        return Estimate.exact(value)
    if not is_ranked(found).all():
        return Estimate(value)
    return Estimate(value, float(found[LOW].agg(how)), float(found[HIGH].agg(how)))


def of_runs(runs: Sequence[Sequence[float]]) -> Estimate:
    """A median over runs of single times; one run does not tell how far runs differ, so that it has no interval."""
    counted = [list(finite(each)) for each in runs]
    return Estimate(*run_median(counted)) if any(counted) else Estimate(math.nan)


def of_values(values: Sequence[float]) -> Estimate:
    """The median of one figure a run."""
    counted = finite(values)
    if not counted.size:
        return Estimate(math.nan)
    middle = float(np.median(counted))
    return Estimate(middle, *median_interval(counted)) if counted.size >= FEWEST_FOR_AN_INTERVAL else Estimate(middle)


def of_pairs(rows: pd.DataFrame, column: str) -> Estimate:
    """The median over pairs of KEM and signature of one figure a run: runs that differ in the cipher alone belong
    together. Without FEWEST_PAIRS of them there is no interval."""
    found = rows.dropna(subset=[column])
    if found.empty:
        return Estimate(math.nan)
    middles = [float(part.median()) for _, part in found.groupby(["kem", "sig"])[column]]
    middle = float(np.median(middles))
    return Estimate(middle) if len(middles) < FEWEST_PAIRS else Estimate(middle, *median_interval(middles))
