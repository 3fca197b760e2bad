# SPDX-License-Identifier: Apache-2.0
"""What may be chosen in a situation, and the ages rules go by."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import CATALOGUE, CORE, DEFAULT, GROUND, suite, well

from pqc_mav_policy.bands import EVERYTHING
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.memory import avoid, begin
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase

LADDER = Ladder(CATALOGUE)
LIGHT = suite("ML-512-AG-FA-512")


def at(inputs: DecisionInput, memory: Any = None, now: float = 100.0, **parameters: Any) -> Situation:
    return Situation(inputs, memory or begin(0.0), PolicyParameters(**parameters), LADDER, now)


@pytest.mark.parametrize(("minimum", "levels"), [(1, {1, 3, 5}), (3, {3, 5}), (5, {5})])
def test_no_suite_below_the_minimum_level(minimum: int, levels: set[int]) -> None:
    found = at(well(vehicle=GROUND), minimum_level=minimum).candidates
    assert {CATALOGUE[name].level for name in found} == levels


def test_a_minimum_nothing_meets_is_dropped_rather_than_leaving_nothing() -> None:
    assert at(well(available=(LIGHT,)), minimum_level=5).candidates == (LIGHT,)


def test_avoided_suites_are_left_out_wherever_that_is_known() -> None:
    memory = avoid(begin(0.0), LIGHT, 200.0)
    inputs = well(vehicle=GROUND, blacklisted=(DEFAULT,))
    found = at(inputs, memory).candidates
    assert set(CORE) - set(found) == {LIGHT, DEFAULT}


def test_when_all_are_avoided_the_one_released_first_comes_back() -> None:
    memory = avoid(avoid(begin(0.0), LIGHT, 300.0), DEFAULT, 200.0)
    assert at(well(available=(LIGHT, DEFAULT)), memory).candidates == (DEFAULT,)
    both = (LIGHT, DEFAULT)
    assert set(at(well(available=both, blacklisted=both)).candidates) == set(both)


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


def test_age_of_the_keys_by_the_engine_or_since_the_switch() -> None:
    assert at(well(session={"key_age_s": 7.0})).key_age_s == 7.0
    assert at(well(session={"key_age_s": None})).key_age_s == 0.0
