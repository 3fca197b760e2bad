# SPDX-License-Identifier: Apache-2.0
"""Scenarios: named load profiles of the drone's computer.

The published campaigns ran each suite alone (baseline) and with an attack detector next to it: XGBoost (light) and a
time series transformer, TST (heavy). Here the detectors of pqc_mav_detect run. Where their demand is emulated instead,
a share of one core is kept busy in every second, and memory held: what the two added on the published Raspberry Pi 4
([rpi4-analysis] Table 1; [rpi4-results] trend 3: processor 77.2 / 78.5 / 90.6 % of four cores, resident memory
272 / 607 / 761 MiB).
"""

from dataclasses import dataclass

from pqc_mav_bench.errors import OptionsError

_PUBLISHED_CORES = 4


@dataclass(frozen=True)
class Scenario:
    """One load profile; `busy_fraction` is of one core."""

    name: str
    title: str
    busy_fraction: float
    memory_mib: int

    @property
    def has_detector(self) -> bool:
        """Whether a detector runs, or a load in its place."""
        return self.busy_fraction > 0


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("baseline", "no detector", 0.0, 0),
        Scenario("xgboost", "XGBoost detector", round((0.785 - 0.772) * _PUBLISHED_CORES, 3), 607 - 272),
        Scenario("tst", "time series transformer", round((0.906 - 0.772) * _PUBLISHED_CORES, 3), 761 - 272),
    )
}


def scenario_of(name: str) -> Scenario:
    """The profile of this name. Raises OptionsError."""
    if name not in SCENARIOS:
        raise OptionsError(f"There is no scenario '{name}'; there are {', '.join(SCENARIOS)}.")
    return SCENARIOS[name]
