# SPDX-License-Identifier: Apache-2.0
"""What a detector beside the tunnel changes, with the interval and the test that say whether that is certain.

Each pair of KEM and signature is compared with itself: the ratio of the geometric means of its runs, or the difference
of their means. Suites that differ in the cipher alone make the same handshake, so their runs belong together, and the
pairs are what is tested, as docs/analysis-plan.md has it. The comparisons of one question are one family for Holm's
correction.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pqc_mav_bench.analysis.estimate import FEWEST_PAIRS, Estimate
from pqc_mav_bench.analysis.intervals import SIGNIFICANCE
from pqc_mav_bench.analysis.paired import holm, signed_ranks
from pqc_mav_bench.analysis.table import FAMILIES, SCENARIOS, ordered

Figures = NDArray[np.float64]


@dataclass(frozen=True)
class Effect:
    """Ratio of a figure in a scenario to the same without a detector, over pairs, with its 95 % interval (for itself
    alone) and the p of the paired test, corrected for all comparisons of its family."""

    scenario: str
    ratio: float
    low: float
    high: float
    pairs: int
    p: float

    @property
    def told_apart(self) -> bool:
        """Whether the test says so: the rule of `intervals`."""
        return self.p < SIGNIFICANCE


def effects(runs: pd.DataFrame, base: str = "baseline", column: str = "handshake_ms") -> list[Effect]:
    """One for each other scenario that has enough pairs; `runs` has a row for each run that passed."""
    return _corrected(_effects(runs, base, column))


def family_effects(runs: pd.DataFrame, column: str = "handshake_ms") -> dict[str, list[Effect]]:
    """`effects` of each KEM family alone, families in the usual order; one with too few pairs has none. All families
    and scenarios are one family of comparisons."""
    found = {
        family: _effects(runs[runs["kem_family"] == family], "baseline", column)
        for family in ordered(runs["kem_family"].unique(), FAMILIES)
    }
    corrected = iter(_corrected([each for effects in found.values() for each in effects]))
    return {family: [next(corrected) for _ in effects] for family, effects in found.items()}


def _corrected(found: Sequence[Effect]) -> list[Effect]:
    return [replace(each, p=p) for each, p in zip(found, holm([each.p for each in found]), strict=True)]


def _effects(runs: pd.DataFrame, base: str, column: str) -> list[Effect]:
    found = []
    for name, middles in _by_pair(runs, base, column, np.log).items():
        test = signed_ranks(middles)
        ratio, low, high = (float(np.exp(end)) for end in (test.effect, test.low, test.high))
        found.append(Effect(name, ratio, low, high, len(middles), test.p))
    return found


def added(runs: pd.DataFrame, base: str = "baseline", column: str = "handshake_ms") -> dict[str, Estimate]:
    """By scenario: what it adds to a pair's figure, in the figure's unit, over pairs."""
    found = _by_pair(runs, base, column, lambda values: values)
    tests = {name: signed_ranks(middles) for name, middles in found.items()}
    return {name: Estimate(test.effect, test.low, test.high) for name, test in tests.items()}


def cipher_effects(runs: pd.DataFrame, base: str = "AES-256-GCM") -> list[Effect]:
    """What another cipher does to the handshakes of one scenario, each with the cipher's name as its `scenario`."""
    pairs = runs[runs["kem"] != ""]
    return effects(pairs.assign(scenario=pairs["aead"]), base)


def _by_pair(
    runs: pd.DataFrame, base: str, column: str, scale: Callable[[Figures], Figures]
) -> Mapping[str, list[float]]:
    """By scenario: how far the mean of each pair's runs, all of one weight on this scale, is from that of its runs in
    `base`, where there are enough pairs."""
    rows = runs[runs[column] > 0]
    if base not in set(rows["scenario"]):
        return {}
    scaled = pd.Series(scale(rows[column].to_numpy()), rows.index)
    means = scaled.groupby([rows["kem"], rows["sig"], rows["scenario"]]).mean().unstack()
    found = {}
    for name in ordered(means.columns, SCENARIOS):
        middles = (means[name] - means[base]).dropna().tolist()
        if name != base and len(middles) >= FEWEST_PAIRS:
            found[name] = middles
    return found
