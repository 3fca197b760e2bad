# SPDX-License-Identifier: Apache-2.0
"""A recorded flight flown again: what it met is what was recorded, the session is its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded_flights import flown, record
from scenes import CATALOGUE, CORE, DEFAULT

from pqc_mav_policy.settings import Settings, make
from pqc_mav_policy_lab.flight_model.costs import published_costs
from pqc_mav_policy_lab.missions.fly import Simulation, fly
from pqc_mav_policy_lab.missions.recorded import RecordedMission
from pqc_mav_policy_lab.missions.simulated import MissionError
from pqc_mav_policy_lab.recordings.replay import read


def test_the_environment_is_the_recorded_one(tmp_path: Path) -> None:
    flight = flown("attack")
    mission = RecordedMission(read(record(tmp_path / "attack.mcap", flight), "drone"))
    assert (mission.name, mission.source, mission.suite) == ("attack", "recorded", DEFAULT)
    assert set(mission.available) == set(CORE)
    again = fly(
        Simulation(mission.world(), DEFAULT, CORE, CATALOGUE, published_costs(CATALOGUE)),
        make("expert", CATALOGUE, Settings()),
    )
    assert len(again) == len(flight) - 1
    for before, after in zip(flight, again, strict=False):
        assert after.inputs.battery == before.inputs.battery and after.inputs.link == before.inputs.link
        assert after.inputs.thermal == before.inputs.thermal and after.inputs.threat == before.inputs.threat
        assert after.conditions.silent == (before.inputs.link.packets_per_s == 0.0)
    suites = {second.inputs.session.suite for second in again}
    assert suites != {second.inputs.session.suite for second in flight} and len(suites) > 1


def test_the_recorded_strategy_flies_the_same_way_again(tmp_path: Path) -> None:
    """The session simulated over the recording is the one that was simulated when it was made."""
    flight = flown("hot")
    mission = RecordedMission(read(record(tmp_path / "hot.mcap", flight), "drone"))
    simulation = Simulation(mission.world(), DEFAULT, CORE, CATALOGUE, published_costs(CATALOGUE))
    again = fly(simulation, make("cascade", CATALOGUE, Settings()))
    acts = [(s.index, str(s.decision.action), s.decision.to_suite) for s in flight if s.decision.acts]
    assert [(s.index, str(s.decision.action), s.decision.to_suite) for s in again if s.decision.acts] == acts


def test_a_gap_repeats_what_was_seen_last(tmp_path: Path) -> None:
    flight = [second for second in flown("hot") if not 100 <= second.index < 130]
    world = RecordedMission(read(record(tmp_path / "gap.mcap", flight), "drone")).world()
    assert world.seconds == 759
    assert world.sense(115, 0.0, 0.0, None)[1] == world.sense(99, 0.0, 0.0, None)[1]


def test_too_little_to_fly(tmp_path: Path) -> None:
    recording = read(record(tmp_path / "short.mcap", flown("hot")[:5]), "drone")
    with pytest.raises(MissionError, match="5 s of decisions"):
        RecordedMission(recording)
