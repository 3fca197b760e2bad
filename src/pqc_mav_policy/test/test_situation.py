# SPDX-License-Identifier: Apache-2.0
"""What may be chosen in a situation, and the ages rules go by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest
from scenes import CATALOGUE, CORE, DEFAULT, GROUND, change, every, suite, well

from pqc_mav_policy.bands import EVERYTHING
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.memory import begin
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase

LADDER = Ladder(CATALOGUE)
LIGHT = suite("ML-512-AG-FA-512")
HEAVY = suite("ML-1024-AG-MD-87")


def at(inputs: DecisionInput, memory: Any = None, now: float = 100.0, **parameters: Any) -> Situation:
    return Situation(inputs, memory or begin(0.0), every(**parameters), LADDER, now)


@pytest.mark.parametrize(("minimum", "levels"), [(1, {1, 3, 5}), (3, {3, 5}), (5, {5})])
def test_no_suite_below_the_minimum_level(minimum: int, levels: set[int]) -> None:
    found = at(well(vehicle=GROUND), minimum_level=minimum).candidates
    assert {CATALOGUE[name].level for name in found} == levels


def test_a_minimum_nothing_meets_leaves_nothing() -> None:
    assert at(well(available=(LIGHT,)), minimum_level=5).candidates == ()


@pytest.mark.parametrize(("configured", "levels"), [(LIGHT, {1, 3, 5}), (DEFAULT, {3, 5}), (HEAVY, {5})])
def test_the_minimum_is_the_level_of_the_configured_suite(configured: str, levels: set[int]) -> None:
    found = at(well(vehicle=GROUND, configured_suite=configured))
    assert {CATALOGUE[name].level for name in found.candidates} == levels


@pytest.mark.parametrize(("current", "floor"), [(LIGHT, 1), (DEFAULT, 3), (HEAVY, 5), ("", 5)])
def test_while_the_configured_suite_is_unknown_the_one_in_use_stands_for_it(current: str, floor: int) -> None:
    assert at(well(current, configured_suite="")).floor == floor


def test_avoided_and_abandoned_suites_are_left_out() -> None:
    memory = replace(begin(0.0), abandoned=LIGHT, abandoned_until_s=200.0)
    inputs = well(vehicle=GROUND, blacklisted=(DEFAULT,))
    found = at(inputs, memory).candidates
    assert set(CORE) - set(found) == {LIGHT, DEFAULT}


def test_when_all_are_avoided_none_may_be_chosen() -> None:
    both = (LIGHT, DEFAULT)
    assert at(well(available=both, blacklisted=both)).candidates == ()


def test_a_choice_is_never_of_a_lower_level_because_of_what_is_avoided() -> None:
    """Of ML-1024, another of level 5 and one of level 1: the first choice, else its like, else nothing."""
    like, low = suite("ML-1024-CP-FA-1024"), LIGHT

    def pick(names: Collection[str]) -> str | None:
        return next((name for name in (HEAVY, like, low) if name in names), None)

    def chosen(*blacklisted: str) -> str | None:
        return at(well(available=(HEAVY, like, low), blacklisted=blacklisted)).choose(pick)

    assert (chosen(), chosen(HEAVY), chosen(HEAVY, like)) == (HEAVY, like, None)


def test_a_decision_for_a_lower_level_becomes_a_hold_when_only_the_engines_list_explains_it() -> None:
    def decide(it: Situation) -> Decision:
        to = DEFAULT if DEFAULT in it.candidates else LIGHT
        return it.change(Action.DOWN, "guard", 6, "because.", to)

    inputs = well(HEAVY, available=(HEAVY, DEFAULT, LIGHT))
    assert at(inputs).no_lower(decide).to_suite == DEFAULT
    held = at(change(inputs, blacklisted=(DEFAULT,))).no_lower(decide)
    assert (held.action, held.guard, held.priority, held.to_suite) == (Action.HOLD, "guard", 6, HEAVY)
    assert at(change(inputs, available=(LIGHT,), blacklisted=(DEFAULT,))).no_lower(decide).to_suite == LIGHT


def test_a_hold_stays_what_it_is_where_the_engine_avoids_what_would_be_climbed_to() -> None:
    def decide(it: Situation) -> Decision:
        return it.change(Action.UPGRADE, "climb", 8, "b.", HEAVY) if HEAVY in it.candidates else it.hold("own", 3, "a.")

    held = at(well(vehicle=GROUND, blacklisted=(HEAVY,))).no_lower(decide)
    assert (held.action, held.guard, held.priority, held.reason) == (Action.HOLD, "own", 3, "a.")


def test_only_what_is_available_and_known_may_be_chosen() -> None:
    assert at(well(available=("cs-new-aesgcm-new", LIGHT))).candidates == (LIGHT,)
    assert at(well(available=())).candidates == ()


@pytest.mark.parametrize(
    ("phase", "families"),
    [
        (Phase.TAKEOFF, {"ML-KEM"}),
        (Phase.LANDING, {"ML-KEM"}),
        (Phase.CRUISE, {"ML-KEM", "HQC"}),
        (Phase.UNKNOWN, {"ML-KEM", "HQC"}),
        (Phase.HOVER, {"ML-KEM", "HQC", "Classic-McEliece"}),
    ],
)
def test_the_phases_band_in_flight(phase: Phase, families: set[str]) -> None:
    found = [CATALOGUE[name] for name in at(well(vehicle={"phase": phase})).candidates]
    assert {each.kem_family for each in found} == families
    assert "SPHINCS+" not in {each.sig_family for each in found}
    assert "classicmceliece8192128" not in {each.kem_token for each in found}


def test_on_the_ground_and_without_bands_everything() -> None:
    assert len(at(well(vehicle=GROUND)).candidates) == 72
    assert len(at(well(), phase_bands=False).candidates) == 72


def test_not_knowing_counts_as_flying_and_armed_on_the_ground_too() -> None:
    assert at(well(vehicle={"valid": False, "armed": False})).airborne
    assert at(well(vehicle={"armed": None})).airborne
    armed = at(well(vehicle={"armed": True, "phase": Phase.DISARMED}))
    assert armed.airborne
    assert armed.band is not EVERYTHING


def test_rekey_intervals_by_family_and_phase() -> None:
    assert at(well()).rekey_interval_s == 60.0
    assert at(well(suite("HQC-192-AG-MD-65"))).rekey_interval_s == 300.0
    assert at(well(suite("MC-460-AG-MD-65"))).rekey_interval_s == 0.0
    assert at(well(vehicle={"phase": Phase.TAKEOFF})).rekey_interval_s is None
    assert at(well(vehicle=GROUND)).rekey_interval_s == 60.0


def test_age_of_the_keys_by_the_engine_or_since_the_switch() -> None:
    assert at(well(session={"key_age_s": 7.0})).key_age_s == 7.0
    assert at(well(session={"key_age_s": None})).key_age_s == 0.0
