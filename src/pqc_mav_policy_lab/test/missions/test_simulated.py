# SPDX-License-Identifier: Apache-2.0
"""Simulated missions are data: the same number gives the same mission, and each has the trouble it is named after."""

from __future__ import annotations

import pytest

from pqc_mav_policy.telemetry.inputs import Phase, Threat
from pqc_mav_policy_lab.missions.simulated import NAMES, MissionError, mission


@pytest.mark.parametrize("name", NAMES)
def test_a_mission_is_reproducible_and_begins_and_ends_on_the_ground(name: str) -> None:
    for variant in (0, 1, 77):
        first = mission(name, variant)
        assert first == mission(name, variant) and first.source == "simulated"
        phases = [entry.phase for entry in first.conditions]
        assert phases[0] is phases[-1] is Phase.DISARMED
        assert [phase for phase in Phase if phase in phases] == [phase for phase in Phase if phase is not Phase.UNKNOWN]
        assert all(0.0 <= entry.loss <= 1.0 and entry.rtt_s > 0 for entry in first.conditions)
    assert mission(name, 1).conditions != mission(name, 2).conditions


def test_each_has_its_trouble() -> None:
    nominal = mission("nominal").conditions
    assert max(entry.loss for entry in nominal) < 0.01 and not any(entry.silent for entry in nominal)
    assert max(entry.cpu_percent for entry in mission("hot").conditions) > 80.0
    assert mission("low-battery").soc < 0.5
    bad = mission("bad-link").conditions
    assert sum(entry.silent for entry in bad) > 10 and max(entry.loss for entry in bad) > 0.9
    assert sum(entry.threat is Threat.ATTACK for entry in mission("attack").conditions) > 60
    assert len(mission("long").conditions) > 2 * len(nominal)


def test_the_trouble_is_over_before_the_end() -> None:
    for name in ("bad-link", "attack"):
        for variant in range(30):
            assert not any(entry.silent or entry.threat for entry in mission(name, variant).conditions[-100:])


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(MissionError, match="nominal, hot"):
        mission("moon")
