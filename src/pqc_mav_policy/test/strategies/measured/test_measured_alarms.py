# SPDX-License-Identifier: Apache-2.0
"""What each response of a detector leads to, and over hours of provoked alarms, what none of them can."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import Phase as Phases
from hypothesis import strategies as st
from plant import Plant, Step, Weather
from scenes import CATALOGUE, CORE, DEFAULT, GROUND, change, every, suite, well

from pqc_mav_policy.alarms import EVERY_S, RESPONSES
from pqc_mav_policy.decision import Action, Decision, Kind
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.strategies.measured.costs import cost_model
from pqc_mav_policy.strategies.measured.measured import Measured
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters
from pqc_mav_policy.telemetry.inputs import DecisionInput, Link, Phase, Threat

P = every()
MEASURED = Measured(CATALOGUE, P, cost_model(CATALOGUE, MeasuredParameters(), None))
# On this radio even heavy suites fit the tight budget, so that nothing is left for its cost alone.
ROOMY = Measured(CATALOGUE, P, cost_model(CATALOGUE, MeasuredParameters(tight_ms=60000.0), None))
LADDER = Ladder(CATALOGUE)
BEST, HQC, MCELIECE = map(suite, ("ML-1024-AG-FA-1024", "HQC-256-AG-MD-87", "MC-8192-AG-MD-87"))
HOVER = {"phase": Phase.HOVER}
few = settings(
    max_examples=1,
    deadline=None,
    phases=[Phases.explicit, Phases.reuse, Phases.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
seeds = st.integers(0, 2**32 - 1)
# Only alarms, hundreds of them an hour, beside a calm flight.
ALARMED = Weather(**{**dict.fromkeys(vars(Weather()), 0.0), "attack": 0.2})


def reported(response: str, kind: str, current: str = BEST, **changes: Any) -> DecisionInput:
    level = Threat.SUSPICIOUS if response == "hold" else Threat.ATTACK
    return change(well(current, vehicle=HOVER, threat=level, threat_kind=kind, threat_response=response), **changes)


def after(inputs: DecisionInput, seconds: int, strategy: Measured = MEASURED) -> list[Decision]:
    """The decisions over some seconds of the same snapshot, after half a minute without the alarm."""
    state = strategy.initial_state(-30.0)
    calm = change(inputs, threat=Threat.NONE, session={"key_age_s": 0.0}, vehicle={"phase": Phase.TAKEOFF})
    for second in range(-30, 0):
        _, state = strategy.decide(calm, state, float(second))
    found = []
    for second in range(seconds):
        decision, state = strategy.decide(inputs, state, float(second))
        found.append(decision)
    return found


@pytest.mark.parametrize("kind", ["forgery", "replay"])
def test_forgery_and_replay_renew_the_keys_at_once_and_once(kind: str) -> None:
    decisions = after(reported("renew_keys", kind, session={"key_age_s": 5.0}), 59)
    first = decisions[0]
    assert (first.action, first.guard, first.to_suite, first.priority) == (Action.REKEY, "alarm", BEST, 0)
    assert first.reason.startswith(f"Renewing the keys, since a detector reports {kind}; ML-1024-AG-FA-1024 (level 5)")
    assert [d for d in decisions if d.acts] == [first]
    assert decisions[-1].guard == "alarm"
    assert decisions[-1].reason.endswith("they would be renewed, but the keys have been renewed since.")
    assert not any(d.acts for d in after(reported("renew_keys", kind, vehicle={"phase": Phase.LANDING}), 9))


def test_with_a_heavy_suite_in_use_the_alarm_s_renewal_takes_the_best_of_its_level() -> None:
    first = after(reported("renew_keys", "forgery", HQC), 1)[0]
    assert (first.action, first.guard, first.to_suite) == (Action.DOWN, "alarm", BEST)


def test_a_flood_of_handshakes_lets_only_due_renewals_be_made() -> None:
    young = reported("defer_renewals", "handshake_flood", HQC, session={"key_age_s": 20.0})
    decisions = after(young, 40)
    assert not any(decision.acts for decision in decisions)
    assert decisions[-1].guard == "alarm"
    assert decisions[-1].reason.endswith("reports handshake_flood, so only renewals that are due are made.")
    # The same attack from a detector that says no more, a phase that the suite is unfit for, and a bad link lead away.
    assert after(change(young, threat_response=""), 40)[5].guard == "save"
    for other in ({"vehicle": {"phase": Phase.CRUISE}, "threat_kind": ""}, {"link": {"loss": 0.2}}):
        assert not any(decision.acts for decision in after(change(young, **other), 40))
    due = after(change(young, session={"key_age_s": 60.0}), 1)[0]
    assert (due.guard, due.to_suite) == ("renew", BEST)
    hot = after(change(young, thermal={"rate_c_per_min": 9.0}), 9)
    assert next(decision for decision in hot if decision.acts).guard == "save"


def test_a_suite_that_is_unfit_for_the_phase_is_left_except_in_a_flood_of_handshakes() -> None:
    cruise = well(MCELIECE, vehicle={"phase": Phase.CRUISE}, session={"key_age_s": 20.0})
    left = [decision for decision in after(cruise, 40, ROOMY) if decision.acts]
    assert left[0].guard == "phase" and left[0].action is Action.DOWN
    flooded = change(cruise, threat=Threat.ATTACK, threat_kind="handshake_flood", threat_response="defer_renewals")
    assert not any(decision.acts for decision in after(flooded, 40, ROOMY))


@pytest.mark.parametrize("kind", ["flood", "volumetric"])
def test_a_flood_makes_the_renewal_that_comes_small_and_no_other(kind: str) -> None:
    young = reported("light_handshakes", kind, MCELIECE, session={"key_age_s": 20.0}, vehicle=GROUND)
    decisions = after(young, 40)
    assert not any(decision.acts for decision in decisions)
    assert decisions[-1].reason.endswith("so the next renewal takes the smallest handshake of the level.")
    due = after(change(young, session={"key_age_s": 300.0}), 1, ROOMY)[0]
    assert (due.action, due.guard) == (Action.DOWN, "renew")
    assert f"the smallest handshake of its level, since a detector reports {kind}." in due.reason
    level_5 = [name for name in CORE if CATALOGUE[name].level == 5]
    assert CATALOGUE[due.to_suite].handshake_bytes == min(CATALOGUE[name].handshake_bytes for name in level_5)


def test_one_change_of_suite_in_a_flood() -> None:
    """An attacker who puts one suite after the other on the engine's list does not make it wander."""
    state = ROOMY.initial_state(0.0)
    flood = reported("light_handshakes", "flood", HQC, session={"key_age_s": 1e4})
    first, state = ROOMY.decide(flood, state, 0.0)
    assert first.to_suite == BEST
    now = change(flood, session={"suite": HQC, "last_switch_s": -1e6})
    later, state = ROOMY.decide(now, state, 10.0)
    assert (later.action, later.to_suite) == (Action.REKEY, HQC)


LEFT = {"ratchet_for_s": 3000.0}


@pytest.mark.parametrize(
    ("response", "kind"),
    [("defer_renewals", "handshake_flood"), ("light_handshakes", "flood"), ("light_handshakes", "volumetric")],
)
def test_in_a_flood_the_renewal_that_comes_is_a_ratchet_and_leaves_no_suite(response: str, kind: str) -> None:
    due = reported(response, kind, HQC, session={"key_age_s": 1e4, **LEFT})
    made = after(due, 1, ROOMY)[0]
    assert (made.action, made.guard, made.kind) == (Action.REKEY, "renew", Kind.RATCHET)
    assert made.reason.endswith(f"by a ratchet: a detector reports {kind}.")
    assert after(change(due, session={"ratchets": 7}), 1, ROOMY)[0].kind is Kind.REKEY
    young = after(change(due, session={"key_age_s": 20.0}), 40, ROOMY)
    assert not any(decision.acts for decision in young)
    if response == "light_handshakes":
        assert young[-1].reason.endswith("so the next renewal is a ratchet.")


def test_what_an_alarm_asks_for_is_a_full_handshake_and_so_is_what_is_due_meanwhile() -> None:
    """Who forges or replays may hold the keys: a ratchet would not shut out one who is in the path."""
    first = after(reported("renew_keys", "forgery", session={"key_age_s": 5.0, **LEFT}), 1)[0]
    assert (first.guard, first.kind) == ("alarm", Kind.REKEY)
    long = suite("HQC-256-AG-SP-256s")
    due = reported("renew_keys", "replay", long, available=(long,), vehicle=GROUND, session={"key_age_s": 1e4, **LEFT})
    # The alarm renews them once. What is due after that is no ratchet either.
    made = [decision for decision in after(due, 90, ROOMY) if decision.acts]
    assert {decision.guard for decision in made} == {"alarm", "renew"}
    assert {decision.kind for decision in made} == {Kind.REKEY}
    assert after(change(due, threat=Threat.NONE), 1, ROOMY)[0].kind is Kind.RATCHET
    # Where none fits, the alarm's own renewal is left out, and keys that are due are ratcheted.
    lost = change(due, link={"loss": 0.9})
    assert (after(lost, 1)[0].guard, after(lost, 1)[0].kind) == ("renew", Kind.RATCHET)


def test_silence_begins_nothing_and_on_path_changes_nothing() -> None:
    gone = reported("hold", "blackout", DEFAULT, link=Link(), session={"key_age_s": 70.0})
    held = after(gone, 50)
    assert not any(decision.acts for decision in held)
    assert (held[0].guard, held[0].priority) == ("alarm", 0)
    assert "suspects blackout, and the ground station is not heard" in held[0].reason
    assert after(change(gone, session={"suite": BEST, "key_age_s": 119.0}), 1)[0].guard == "alarm"
    assert after(change(gone, session={"suite": BEST, "key_age_s": 120.0}), 1)[0].action is Action.REKEY
    assert after(change(gone, session={"suite": HQC, "key_age_s": 599.0}), 1)[0].guard == "alarm", "due after 300 s"
    # A weak radio is suspected all the time: as long as the ground reports, all goes on.
    weak = after(reported("hold", "on_path", DEFAULT), 1)[0]
    assert (weak.guard, weak.to_suite) == ("climb", BEST)
    assert after(reported("hold", "on_path", BEST), 1)[0].reason.endswith("so nothing is changed for it.")


def test_a_report_without_a_known_response_is_judged_as_before() -> None:
    for current in (BEST, HQC, DEFAULT):
        plain = after(reported("", "flood", current), 40)
        assert after(reported("something_new", "flood", current), 40) == plain
        assert not any(decision.guard == "alarm" for decision in plain)


def flown(seed: int, start: str, weather: Weather, strategy: Any = MEASURED, **plant: Any) -> tuple[Plant, list[Step]]:
    made = Plant(strategy, seed, start=start, weather=weather, responses=(*sorted(RESPONSES), "", "new"), **plant)
    return made, made.run(7200)


@few
@given(seeds, st.sampled_from(CORE))
def test_no_sequence_of_alarms_lowers_the_level(seed: int, start: str) -> None:
    """Not even where the owner allows every level."""
    _, steps = flown(seed, start, ALARMED)
    levels = [CATALOGUE[step.inputs.session.suite].level for step in steps]
    assert levels == sorted(levels)


@few
@given(seeds, st.sampled_from(CORE))
def test_handshakes_caused_by_alarms_are_bounded(seed: int, start: str) -> None:
    """One a minute at most, none beyond the rate limit, and none that makes another wait."""
    for weather in (ALARMED, Weather(attack=0.2)):
        plant, _ = flown(seed, start, weather)
        caused = [when for when, decision in plant.asked if decision.guard == "alarm"]
        assert all(later - earlier >= EVERY_S for earlier, later in pairwise(caused))
        for when in caused:
            within = [at for at, *_ in plant.switches if when - P.rate_limit_window_s < at < when]
            assert len(within) < P.rate_limit_count


@few
@given(seeds, st.sampled_from([name for name in CORE if CATALOGUE[name].kem_family == "ML-KEM"]))
def test_alarms_do_not_age_the_keys(seed: int, start: str) -> None:
    """In a cruise that is calm but for them, no keys are older than without any alarm."""

    def oldest(weather: Weather) -> float:
        made = Plant(MEASURED, seed, start=start, weather=weather, responses=tuple(sorted(RESPONSES)), wanders=False)
        made.phase = Phase.CRUISE
        return max(step.inputs.session.key_age_s or 0.0 for step in made.run(7200))

    calm = Weather(**dict.fromkeys(vars(Weather()), 0.0))
    assert oldest(ALARMED) <= oldest(calm) + 1.0


@few
@given(seeds, st.sampled_from(CORE))
def test_i3_under_alarms_suites_only_get_lighter_and_i1_nothing_happens_twice_at_once(seed: int, start: str) -> None:
    _, steps = flown(seed, start, Weather(attack=0.2, warming=0.01, gaps=0.01, outages=0.01))
    for step in steps:
        if step.decision.acts:
            assert step.inputs.session.alive
            assert step.inputs.session.pending_suite is None
            assert not (step.stressed and LADDER.lighter(step.decision.from_suite, step.decision.to_suite))
