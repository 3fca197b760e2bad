# SPDX-License-Identifier: Apache-2.0
"""Hours of random flights: what may lower the level, and what may not, whatever happens."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import Phase as Phases
from hypothesis import strategies as st
from plant import Plant, Step, Weather
from scenes import CATALOGUE, CORE, DEFAULT, GROUND, change, every, suite, well

from pqc_mav_policy import senses
from pqc_mav_policy.alarms import RESPONSES
from pqc_mav_policy.bands import BANDS
from pqc_mav_policy.decision import Action
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.strategies.cascade import signs
from pqc_mav_policy.strategies.measured.costs import cost_model
from pqc_mav_policy.strategies.measured.measured import Measured
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters
from pqc_mav_policy.telemetry.inputs import Outcome, Phase, Threat

P = every()
MEASURED = Measured(CATALOGUE, P, cost_model(CATALOGUE, MeasuredParameters(), None))
LADDER = Ladder(CATALOGUE)
HOUR = 3600
few = settings(
    max_examples=2,
    deadline=None,
    phases=[Phases.explicit, Phases.reuse, Phases.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
some = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
seeds = st.integers(0, 2**32 - 1)
suites = st.sampled_from(CORE)
BEST = suite("ML-1024-AG-FA-1024")
# What an attacker in the path can bring about without any key.
PROVOKED = Weather(hot=0, empty=0, warming=0, sagging=0, lossy=0.02, gaps=0.02, outages=0.02, attack=0.02, lost=0.005)


def level(name: str) -> int:
    return CATALOGUE[name].level


def own(step: Step) -> bool:
    """Whether the drone's own telemetry shows trouble."""
    seen = senses.usable(step.inputs, P)
    return bool(signs.emergency(seen, P) or signs.strain(seen, P))


@few
@given(seeds, suites)
def test_only_own_telemetry_lowers_the_level(seed: int, start: str) -> None:
    plant = Plant(MEASURED, seed, start=start)
    lowered = [
        step
        for step in plant.run(2 * HOUR)
        if step.decision.acts and level(step.decision.to_suite) < level(start_of(step))
    ]
    assert all(own(step) and step.decision.guard in ("emergency", "save") for step in lowered)


def start_of(step: Step) -> str:
    return step.decision.from_suite


@few
@given(seeds, suites, st.sets(suites, min_size=1, max_size=40))
def test_whatever_an_attacker_provokes_the_level_never_falls(seed: int, start: str, working: Any) -> None:
    """Losses, gaps, outages, alarms, refused handshakes and lost sessions, with every level allowed."""
    responses = (*sorted(RESPONSES), "", "new")
    plant = Plant(MEASURED, seed, start=start, weather=PROVOKED, working=tuple(working), responses=responses)
    lowest = level(start)
    for step in plant.run(2 * HOUR):
        if step.inputs.session.suite:
            assert level(step.inputs.session.suite) >= lowest
            lowest = level(step.inputs.session.suite)
        if step.decision.acts:
            assert level(step.decision.to_suite) >= lowest


@few
@given(seeds, suites)
def test_in_trouble_suites_only_get_lighter(seed: int, start: str) -> None:
    """I3; keys may be renewed."""
    plant = Plant(MEASURED, seed, start=start, weather=Weather(warming=0.01, gaps=0.01, outages=0.01))
    for step in plant.run(2 * HOUR):
        decision = step.decision
        if decision.acts and step.stressed:
            assert not LADDER.lighter(decision.from_suite, decision.to_suite)


@few
@given(seeds, suites)
def test_nothing_changes_in_a_manoeuvre_for_less_than_an_emergency(seed: int, start: str) -> None:
    for step in Plant(MEASURED, seed, start=start).run(2 * HOUR):
        seen = senses.usable(step.inputs, P).vehicle
        if step.decision.acts and seen.phase in (Phase.TAKEOFF, Phase.LANDING):
            assert step.decision.guard in ("emergency", "blackout")
        if step.decision.acts and seen.armed and step.decision.action is not Action.REKEY:
            assert BANDS[seen.phase].allows(CATALOGUE[step.decision.to_suite])


@few
@given(seeds, suites)
def test_steps_up_are_calm_apart_and_not_undone_at_once(seed: int, start: str) -> None:
    steps = Plant(MEASURED, seed, start=start).run(2 * HOUR)
    climbs = [
        (index, step) for index, step in enumerate(steps) if step.decision.guard == "climb" and step.decision.acts
    ]
    for number, (index, step) in enumerate(climbs):
        before = [other for other in steps[max(0, index - 60) : index] if step.now - other.now < P.tau_up_s]
        assert not any(other.stressed for other in before)
        assert level(step.decision.to_suite) > level(step.decision.from_suite)
        if number:
            assert step.now - climbs[number - 1][1].now >= 60.0


@few
@given(seeds, suites)
def test_liveness_calm_brings_back_the_strongest(seed: int, start: str) -> None:
    """I2: after any trouble, a calm cruise ends on level 5 with fresh keys."""
    plant = Plant(MEASURED, seed, start=start)
    plant.run(HOUR)
    plant.weather = Weather(**dict.fromkeys(vars(Weather()), 0.0))
    plant.troubles.clear()
    plant.phase, plant.wanders = Phase.CRUISE, False
    plant.run(2400)
    assert level(plant.suite) == 5
    assert plant.now - plant.switched < 130.0


@some
@given(
    st.sampled_from(CORE),
    st.fixed_dictionaries(
        {
            "link": st.fixed_dictionaries(
                {
                    "loss": st.floats(0.0, 1.0),
                    "gap_p95_s": st.floats(0.0, 5.0),
                    "blackouts_near_switch": st.integers(0, 9),
                    "valid": st.booleans(),
                }
            ),
            "threat": st.sampled_from(Threat),
            "threat_response": st.sampled_from(("", "new", *sorted(RESPONSES))),
            "blacklisted": st.lists(st.sampled_from(CORE), max_size=72).map(tuple),
        }
    ),
    st.lists(st.tuples(st.sampled_from(CORE), st.booleans(), st.floats(0.0, 600.0)), max_size=4),
    st.sampled_from((Phase.CRUISE, Phase.HOVER, Phase.TAKEOFF, Phase.LANDING)),
)
def test_no_single_view_an_attacker_can_forge_lowers_a_request(
    current: str, forged: dict[str, Any], answers: list[tuple[str, bool, float]], phase: Phase
) -> None:
    outcomes = tuple(Outcome(name, ok, 0.0, "", "", "", took) for name, ok, took in answers)
    view = change(well(current, vehicle={"phase": phase}), **forged, session={"key_age_s": 1e4})
    allowed = BANDS[phase].allows(CATALOGUE[current])
    state = MEASURED.initial_state(0.0)
    for second in range(90):
        seen = change(view, outcomes=outcomes if second % 30 == 0 else ())
        decision, state = MEASURED.decide(seen, state, float(second))
        if decision.acts and (allowed or decision.guard != "phase"):
            assert level(decision.to_suite) >= level(current), decision


@pytest.mark.parametrize("configured", ["ML-512-AG-FA-512", "ML-768-AG-MD-65", "ML-1024-AG-MD-87"])
def test_the_floor_is_the_configured_suites_level_even_in_an_emergency(configured: str) -> None:
    hot = well(BEST, configured_suite=suite(configured), thermal={"temperature_c": 95.0})
    decision, _ = MEASURED.decide(hot, MEASURED.initial_state(0.0), 0.0)
    if decision.acts:
        assert level(decision.to_suite) >= level(suite(configured))
    assert decision.acts is (level(suite(configured)) < 5)


def test_from_the_default_suite_it_is_on_level_5_half_a_minute_later() -> None:
    """On the ground and in flight; the cascade never comes back up in flight."""
    for vehicle in (GROUND, {"phase": Phase.CRUISE}, {"phase": Phase.HOVER}):
        state = MEASURED.initial_state(0.0)
        asked = []
        for second in range(40):
            decision, state = MEASURED.decide(well(DEFAULT, vehicle=vehicle), state, float(second))
            asked += [(second, decision.to_suite)] if decision.acts else []
        assert asked[0] == (30, BEST)
