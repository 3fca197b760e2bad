# SPDX-License-Identifier: Apache-2.0
"""Flying missions under the cascade: it meets the trouble, and the same flight comes out again."""

from __future__ import annotations

from itertools import pairwise

import pytest
from scenes import CATALOGUE, CORE, DEFAULT

from pqc_mav_policy.decision import Action
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.cascade.cascade import Cascade
from pqc_mav_policy_lab.flight_model.costs import published_costs
from pqc_mav_policy_lab.missions.fly import Second, Simulation, fly
from pqc_mav_policy_lab.missions.simulated import NAMES, mission

COSTS = published_costs(CATALOGUE)


def flight(name: str, variant: int = 0) -> list[Second]:
    simulation = Simulation(mission(name, variant).world(), DEFAULT, CORE, CATALOGUE, COSTS)
    return fly(simulation, Cascade(CATALOGUE, PolicyParameters(allow_drafts=True)))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_flight_comes_out_again(name: str) -> None:
    assert flight(name) == flight(name)


def test_heat_is_answered_at_once_with_the_lightest_suite() -> None:
    (second, *_) = [s for s in flight("hot") if s.decision.action is Action.DOWN_0]
    assert (second.inputs.thermal.temperature_c or 0.0) > 80.0 and second.decision.guard == "emergency"


def test_an_empty_battery_too() -> None:
    held = [s for s in flight("low-battery") if s.decision.guard == "emergency"]
    assert held and (held[0].inputs.battery.state_of_charge or 1.0) < PolicyParameters().battery_emergency_charge


def test_a_request_is_seen_pending_only_while_it_runs_and_answered_once() -> None:
    flown = flight("bad-link")
    asked = sum(s.decision.acts for s in flown)
    answers = [outcome for s in flown for outcome in s.inputs.outcomes]
    assert asked > 3 and len(answers) in (asked, asked - 1)
    for before, after in pairwise(flown):
        if after.inputs.session.epoch > before.inputs.session.epoch:
            assert after.inputs.session.epoch == before.inputs.session.epoch + 1
            assert before.work.finished == after.inputs.session.suite


def test_the_bad_link_is_seen_as_bad() -> None:
    flown = flight("bad-link")
    assert max(s.inputs.link.gap_p95_s or 0.0 for s in flown) > 1.0
    assert max(s.inputs.link.blackouts for s in flown) > 0
    assert any(s.work.finished and not s.work.rekey for s in flown)  # it reconnected
