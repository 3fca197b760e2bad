# SPDX-License-Identifier: Apache-2.0
"""What a detector costs: differences between scenarios, over the whole campaign and per KEM family."""

from dataclasses import dataclass
from typing import Any

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


#: The metrics of the published cross-scenario table: heading -> column, statistic over the runs that passed.
METRICS = {
    "Median handshake (ms)": ("handshake_ms", "median"),
    "Mean handshake (ms)": ("handshake_ms", "mean"),
    "P95 handshake (ms)": ("handshake_ms", "p95"),
    "Average CPU (%)": ("cpu_mean_percent", "mean"),
    "Peak CPU (%)": ("cpu_peak_percent", "maximum"),
    "Average SoC temperature (°C)": ("temperature_mean_c", "mean"),
    "Packets sent (median)": ("sent_packets", "median"),
    "Packet loss (%)": ("loss_percent", "mean"),
}
PASSED = "Runs passed / all"


def cross_scenario(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """METRICS and PASSED by scenario, NaN where not measured. They are over passed runs only (the published ones hold a
    timed-out run)."""
    found = {}
    for name in ordered(table["scenario"].unique(), SCENARIOS):
        runs = table[table["scenario"] == name]
        good = runs[runs["passed"]]
        figures = {heading: getattr(summarise(good[column]), how) for heading, (column, how) in METRICS.items()}
        found[name] = {**figures, PASSED: f"{len(good)} / {len(runs)}"}
    return found
