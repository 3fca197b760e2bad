# SPDX-License-Identifier: Apache-2.0
"""The safe set holds in every situation there can be."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from random_flights import LADDER, PARAMETERS, situations
from scenes import CATALOGUE, GROUND, suite, well

from pqc_mav_policy.decision import Action
from pqc_mav_policy.memory import begin
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade import signs
from pqc_mav_policy.strategies.rl.safe import LEAST_KEY_AGE_S, choices, decision, is_safe, may_climb
from pqc_mav_policy.strategies.rl.state import LEVEL_OF, Choice
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase


def at(inputs: DecisionInput, now: float = 100.0, **memory: object) -> Situation:
    return Situation(inputs, replace(begin(0.0), **memory), PARAMETERS, LADDER, now)


@settings(max_examples=120, deadline=None)
@given(situations())
def test_nothing_unsafe_is_ever_offered(it: Situation) -> None:
    offered = choices(it)
    assert offered[Choice.HOLD] == it.current
    disturbed = signs.emergency(it.inputs, PARAMETERS) or signs.bad_link(it.inputs, PARAMETERS)
    disturbed = disturbed or signs.stress(it.inputs, PARAMETERS)
    for choice, name in offered.items():
        if choice is Choice.HOLD:
            continue
        assert len(it.memory.rekeys) < PARAMETERS.rate_limit_count
        assert name in it.candidates and is_safe(it, name)
        heavier = it.ladder.lighter(it.current, name)
        assert not (heavier and disturbed)
        assert not (heavier and it.airborne and it.inputs.vehicle.phase is not Phase.HOVER)
        if choice in LEVEL_OF:
            assert CATALOGUE[name].level == LEVEL_OF[choice]
        acted = decision(it, name, "rl", "")
        assert acted.to_suite == name and acted.acts
        assert (acted.action is Action.UPGRADE) == heavier


def test_upwards_only_when_calm_and_static() -> None:
    hover = {"phase": Phase.HOVER}
    assert may_climb(at(well(vehicle=GROUND))) and may_climb(at(well(vehicle=hover)))
    assert not may_climb(at(well()))  # cruising
    assert not may_climb(at(well(vehicle={**hover, "valid": False})))
    assert not may_climb(at(well(vehicle=hover), 29.9)) and may_climb(at(well(vehicle=hover), 30.0))
    assert not may_climb(at(well(vehicle=hover, battery={"rate_mv_per_min": -501.0})))
    assert not may_climb(at(well(vehicle=hover, link={"loss": 0.2})))
    assert not may_climb(at(well(vehicle=hover, thermal={"temperature_c": 81.0})))
    assert not may_climb(at(well(vehicle=hover, link={"blackouts_near_switch": 4})))
    assert Choice.LEVEL_5 in choices(at(well(vehicle=hover))) and Choice.LEVEL_5 not in choices(at(well()))


def test_fresh_keys_are_not_renewed() -> None:
    old = well(session={"key_age_s": LEAST_KEY_AGE_S})
    fresh = well(session={"key_age_s": LEAST_KEY_AGE_S - 0.1})
    assert Choice.REKEY in choices(at(old)) and Choice.REKEY not in choices(at(fresh))


def test_the_rate_limit_leaves_holding_alone() -> None:
    it = at(well(session={"key_age_s": 500.0}), rekeys=(1.0, 2.0, 3.0, 4.0, 5.0))
    assert set(choices(it)) == {Choice.HOLD} and not is_safe(it, it.current)
    assert set(choices(at(it.inputs, rekeys=(1.0, 2.0, 3.0, 4.0)))) > {Choice.HOLD}


def test_a_suite_out_of_reach_is_not_safe() -> None:
    heavy = suite("MC-8192-AG-MD-87")
    assert is_safe(at(well(vehicle=GROUND)), heavy)
    assert not is_safe(at(well(vehicle={"phase": Phase.HOVER})), heavy)  # unfit for the phase
    assert not is_safe(at(well(vehicle=GROUND, blacklisted=(heavy,))), heavy)
