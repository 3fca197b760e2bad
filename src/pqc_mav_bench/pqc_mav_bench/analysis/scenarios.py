# SPDX-License-Identifier: Apache-2.0
"""What a detector costs: differences between scenarios, over the whole campaign and per KEM family."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from pqc_mav_bench.analysis.change import delta, delta_percent
from pqc_mav_bench.analysis.statistics import summarise
from pqc_mav_bench.analysis.table import FAMILIES, SCENARIOS, ordered


@dataclass(frozen=True)
class Overhead:
    """Median of a quantity for one group without and with a detector."""

    group: str
    scenario: str
    base: float
    value: float

    @property
    def delta(self) -> float:
        """Added amount, in the quantity's unit."""
        return delta(self.value, self.base)

    @property
    def delta_percent(self) -> float:
        """Added amount as per cent of the baseline."""
        return delta_percent(self.value, self.base)


def detector_overhead(
    table: pd.DataFrame, column: str = "handshake_ms", group: str = "kem_family", base: str = "baseline"
) -> list[Overhead]:
    """Overhead of every other scenario over `base`, per group, from medians; pairs without data on both sides are
    absent."""
    medians = table.groupby([group, "scenario"])[column].median().dropna()
    rows = []
    for name in ordered(medians.index.get_level_values(0).unique(), FAMILIES):
        present = medians[name]
        if base not in present.index:
            continue
        others = [s for s in ordered(present.index, SCENARIOS) if s != base]
        rows += [Overhead(str(name), s, float(present[base]), float(present[s])) for s in others]
    return rows


@dataclass(frozen=True)
class ScenarioRow:
    """The nine metrics of the published cross-scenario table for one scenario; NaN = not measured."""

    scenario: str
    median_ms: float
    mean_ms: float
    p95_ms: float
    cpu_mean_percent: float
    cpu_peak_percent: float
    temperature_mean_c: float
    packets_median: float
    loss_percent: float
    passed: int
    total: int


def cross_scenario(table: pd.DataFrame) -> list[ScenarioRow]:
    """One row per scenario. Handshake statistics are over passed runs only (the published ones hold a timed-out
    run)."""
    rows = []
    for name in ordered(table["scenario"].unique(), SCENARIOS):
        runs = table[table["scenario"] == name]
        good = runs[runs["passed"]]
        handshake = summarise(good["handshake_ms"])
        rows.append(
            ScenarioRow(
                name,
                handshake.median,
                handshake.mean,
                handshake.p95,
                float(good["cpu_mean_percent"].mean()),
                float(good["cpu_peak_percent"].max()),
                float(good["temperature_mean_c"].mean()),
                float(good["sent_packets"].median()),
                float(good["loss_percent"].mean()),
                len(good),
                len(runs),
            )
        )
    return rows
