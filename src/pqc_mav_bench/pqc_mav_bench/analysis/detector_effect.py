# SPDX-License-Identifier: Apache-2.0
"""What a detector beside the tunnel changes, with the interval and the test that say whether that is certain.

Each suite is compared with itself: the ratio, or the difference, of its two figures. Suites that differ in the cipher
alone make the same handshake, so their ratios belong together: their geometric mean (of differences the mean) is the
figure of the pair of KEM and signature, and the pairs are what is tested, as docs/analysis-plan.md has it. The
comparisons of one question are one family for Holm's correction.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pqc_mav_bench.analysis.estimate import FEWEST_PAIRS, Estimate
from pqc_mav_bench.analysis.intervals import OWN, SIGNIFICANCE
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


def effects(suites: pd.DataFrame, base: str = "baseline", column: str = "handshake_ms") -> list[Effect]:
    """One for each other scenario that has enough pairs; `suites` has a row per scenario and suite."""
    return _corrected(_effects(suites, base, column))


def family_effects(suites: pd.DataFrame, column: str = "handshake_ms") -> dict[str, list[Effect]]:
    """`effects` of each KEM family alone, families in the usual order; one with too few pairs has none. All families
    and scenarios are one family of comparisons."""
    found = {
        family: _effects(suites[suites["kem_family"] == family], "baseline", column)
        for family in ordered(suites["kem_family"].unique(), FAMILIES)
    }
    corrected = iter(_corrected([each for effects in found.values() for each in effects]))
    return {family: [next(corrected) for _ in effects] for family, effects in found.items()}


def _corrected(found: Sequence[Effect]) -> list[Effect]:
    return [replace(each, p=p) for each, p in zip(found, holm([each.p for each in found]), strict=True)]


def _effects(suites: pd.DataFrame, base: str, column: str) -> list[Effect]:
    found = []
    for name, middles in _by_pair(suites, base, column, lambda value, without: np.log(value / without)).items():
        test = signed_ranks(middles)
        ratio, low, high = (float(np.exp(end)) for end in (test.effect, test.low, test.high))
        found.append(Effect(name, ratio, low, high, len(middles), test.p))
    return found


def added(suites: pd.DataFrame, base: str = "baseline", column: str = "handshake_ms") -> dict[str, Estimate]:
    """By scenario: what it adds to a suite's figure, in the figure's unit, over pairs."""
    found = _by_pair(suites, base, column, lambda value, without: value - without)
    tests = {name: signed_ranks(middles) for name, middles in found.items()}
    return {name: Estimate(test.effect, test.low, test.high) for name, test in tests.items()}


def cipher_effects(suites: pd.DataFrame, base: str = "AES-256-GCM") -> list[Effect]:
    """What another cipher does to the handshakes of one scenario, each with the cipher's name as its `scenario`."""
    pairs = suites.assign(scenario=suites["aead"], suite=suites["kem"] + " " + suites["sig"])
    return effects(pairs[pairs["kem"] != ""], base)


def _by_pair(
    suites: pd.DataFrame, base: str, column: str, compared: Callable[[Figures, Figures], Figures]
) -> Mapping[str, list[float]]:
    """By scenario: what the comparison of suites with themselves gives, the mean of each pair, where there are enough
    pairs."""
    found: dict[str, list[float]] = {}
    # A suite's own runs are compared, since its pair's median may be of other ciphers' runs.
    column = OWN if column == "handshake_ms" and OWN in suites.columns else column
    without = suites[suites["scenario"] == base].set_index("suite")[column].dropna()
    without = without[without > 0]
    for name in ordered(suites["scenario"].unique(), SCENARIOS):
        rows = suites[(suites["scenario"] == name) & suites["suite"].isin(without.index)].dropna(subset=[column])
        if name == base or rows.empty:
            continue
        results = compared(rows[column].to_numpy(), without.loc[rows["suite"]].to_numpy())
        by_pair = pd.Series(results).groupby([rows["kem"].to_numpy(), rows["sig"].to_numpy()])
        middles = [float(part.mean()) for _, part in by_pair]
        if len(middles) >= FEWEST_PAIRS:
            found[name] = middles
    return found
