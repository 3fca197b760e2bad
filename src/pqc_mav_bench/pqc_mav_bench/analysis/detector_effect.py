# SPDX-License-Identifier: Apache-2.0
"""How much longer handshakes take with a detector beside them, with the interval that says whether that is certain.

Each suite is compared with itself: the ratio of its two medians. Suites that differ in the cipher alone make the same
handshake, so their ratios belong together, and the pairs of KEM and signature are what is resampled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pqc_mav_bench.analysis.intervals import clustered_interval
from pqc_mav_bench.analysis.table import SCENARIOS, ordered

#: Pairs of KEM and signature from which there is an interval.
FEWEST_PAIRS = 6


@dataclass(frozen=True)
class Effect:
    """Median ratio of the handshakes in a scenario to those without a detector, with its 95 % interval."""

    scenario: str
    ratio: float
    low: float
    high: float
    pairs: int

    @property
    def told_apart(self) -> bool:
        """Whether the interval leaves 1 out."""
        return not self.low <= 1 <= self.high


def effects(suites: pd.DataFrame, base: str = "baseline", column: str = "handshake_ms") -> list[Effect]:
    """One for each other scenario that has enough pairs; `suites` has a row per scenario and suite."""
    found = []
    without = suites[suites["scenario"] == base].set_index("suite")[column].dropna()
    for name in ordered(suites["scenario"].unique(), SCENARIOS):
        rows = suites[(suites["scenario"] == name) & suites["suite"].isin(without.index)].dropna(subset=[column])
        if name == base or rows.empty:
            continue
        ratios = rows[column].to_numpy() / without.loc[rows["suite"]].to_numpy()
        by_pair = pd.Series(ratios).groupby([rows["kem"].to_numpy(), rows["sig"].to_numpy()])
        groups = [part.tolist() for _, part in by_pair]
        if len(groups) >= FEWEST_PAIRS:
            low, high = clustered_interval(groups)
            middle = float(np.median([np.median(group) for group in groups]))
            found.append(Effect(name, middle, low, high, len(groups)))
    return found
