# SPDX-License-Identifier: Apache-2.0
"""What a detector beside the tunnel changes, with the interval that says whether that is certain.

Each suite is compared with itself: the ratio, or the difference, of its two figures. Suites that differ in the cipher
alone make the same handshake, so their ratios belong together, and the pairs of KEM and signature are what is
resampled.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pqc_mav_bench.analysis.estimate import FEWEST_PAIRS, Estimate
from pqc_mav_bench.analysis.intervals import clustered_interval
from pqc_mav_bench.analysis.table import FAMILIES, SCENARIOS, ordered

Figures = NDArray[np.float64]


@dataclass(frozen=True)
class Effect:
    """Median ratio of a figure in a scenario to the same without a detector, with its 95 % interval."""

    scenario: str
    ratio: float
    low: float
    high: float
    pairs: int

    @property
    def told_apart(self) -> bool:
        """Whether the interval leaves 1 out, also when it is written with two decimals: 1.004 is no evidence."""
        return not round(self.low, 2) <= 1 <= round(self.high, 2)


def effects(suites: pd.DataFrame, base: str = "baseline", column: str = "handshake_ms") -> list[Effect]:
    """One for each other scenario that has enough pairs; `suites` has a row per scenario and suite."""
    return [
        Effect(name, *_middle(groups), len(groups))
        for name, groups in _by_pair(suites, base, column, lambda value, without: value / without)
    ]


def family_effects(suites: pd.DataFrame, column: str = "handshake_ms") -> dict[str, list[Effect]]:
    """`effects` of each KEM family alone, families in the usual order; one with too few pairs has none."""
    return {
        family: effects(suites[suites["kem_family"] == family], column=column)
        for family in ordered(suites["kem_family"].unique(), FAMILIES)
    }


def added(suites: pd.DataFrame, base: str = "baseline", column: str = "handshake_ms") -> dict[str, Estimate]:
    """By scenario: the median of what it adds to a suite's figure, in the figure's unit."""
    return {
        name: Estimate(*_middle(groups))
        for name, groups in _by_pair(suites, base, column, lambda value, without: value - without)
    }


def cipher_effects(suites: pd.DataFrame, base: str = "AES-256-GCM") -> list[Effect]:
    """What another cipher does to the handshakes of one scenario, each with the cipher's name as its `scenario`."""
    pairs = suites.assign(scenario=suites["aead"], suite=suites["kem"] + " " + suites["sig"])
    return effects(pairs[pairs["kem"] != ""], base)


def _middle(groups: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    low, high = clustered_interval(groups)
    return float(np.median([np.median(group) for group in groups])), low, high


def _by_pair(
    suites: pd.DataFrame, base: str, column: str, compared: Callable[[Figures, Figures], Figures]
) -> list[tuple[str, list[list[float]]]]:
    """By scenario: what each suite's comparison with itself gives, in one list a pair, where there are enough pairs."""
    found = []
    without = suites[suites["scenario"] == base].set_index("suite")[column].dropna()
    without = without[without > 0]
    for name in ordered(suites["scenario"].unique(), SCENARIOS):
        rows = suites[(suites["scenario"] == name) & suites["suite"].isin(without.index)].dropna(subset=[column])
        if name == base or rows.empty:
            continue
        results = compared(rows[column].to_numpy(), without.loc[rows["suite"]].to_numpy())
        by_pair = pd.Series(results).groupby([rows["kem"].to_numpy(), rows["sig"].to_numpy()])
        groups = [part.tolist() for _, part in by_pair]
        if len(groups) >= FEWEST_PAIRS:
            found.append((name, groups))
    return found
