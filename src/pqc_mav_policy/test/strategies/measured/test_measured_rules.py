# SPDX-License-Identifier: Apache-2.0
"""Rule by rule: what is saved, renewed, climbed to, and what waits; each budget just within and just beyond."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scenes import CATALOGUE, CORE, DEFAULT, GROUND, change, every, suite, well

from pqc_mav_policy.decision import Action, Decision, Kind
from pqc_mav_policy.strategies.measured.costs import cost_model
from pqc_mav_policy.strategies.measured.measured import Measured
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters
from pqc_mav_policy.telemetry.inputs import DecisionInput, Outcome, Phase, Threat

BEST, LIGHT, HQC, HEAVY = map(suite, ("ML-1024-AG-FA-1024", "ML-512-AG-FA-512", "HQC-256-AG-MD-87", "MC-8192-AG-MD-87"))
HOVER = {"phase": Phase.HOVER}
DUE = {"key_age_s": 1e4}
HOT, WARMING = {"temperature_c": 90.0}, {"rate_c_per_min": 9.0}


def strategy(limits: dict[str, Any] | None = None, **parameters: Any) -> Measured:
    measured = MeasuredParameters(**(limits or {}))
    return Measured(CATALOGUE, every(**parameters), cost_model(CATALOGUE, measured, None))


def after(inputs: DecisionInput, seconds: float = 35.0, limits: Any = None, **parameters: Any) -> Decision:
    """The first request within some seconds of the same snapshot, else the last decision."""
    made = strategy(limits, **parameters)
    state = made.initial_state(0.0)
    decision = None
    now = 0.0
    while now <= seconds:
        decision, state = made.decide(inputs, state, now)
        if decision.acts:
            return decision
        now += 1.0
    assert decision is not None
    return decision


def test_it_climbs_to_the_cheapest_of_the_highest_level() -> None:
    decision = after(well())
    assert (decision.action, decision.guard, decision.to_suite) == (Action.UPGRADE, "climb", BEST)
    assert decision.reason == "Calm for 30 s, and ML-1024-AG-FA-1024 (level 5) costs 39 of 800 ms."


@pytest.mark.parametrize(("configured", "to"), [("ML-768-CP-MD-65", "ML-1024-CP-FA-1024"), ("", "ML-1024-AG-FA-1024")])
def test_it_keeps_the_owners_cipher(configured: str, to: str) -> None:
    """ChaCha20 is for processors without AES instructions, which the cost of a handshake does not show."""
    owners = suite(configured) if configured else ""
    assert after(well(owners or DEFAULT, configured_suite=owners)).to_suite == suite(to)
    renewed = after(change(well(BEST, configured_suite=owners), session=DUE), 0.0)
    assert (renewed.guard, renewed.to_suite) == ("renew", suite(to))


def test_it_says_what_a_step_up_waits_for_and_then_takes_it() -> None:
    made = strategy()
    state = made.initial_state(0.0)
    said = []
    for now in range(31):
        decision, state = made.decide(well(), state, float(now))
        said.append(decision)
    assert said[17].reason.endswith(
        "calm for 17 s; ML-1024-AG-FA-1024 (level 5) costs 39 of 800 ms, but not for another 13 s."
    )
    assert not any("nothing stronger fits" in each.reason for each in said)
    assert said[30].guard == "climb" and said[30].to_suite == BEST


def test_nothing_stronger_fits_is_said_only_if_it_is_so() -> None:
    assert after(well(), limits={"budget_ms": 48.0}).reason.endswith("and nothing stronger fits 38 ms.")
    assert after(well(BEST)).reason.endswith("and no level is higher.")
    assert after(well(available=(DEFAULT,))).reason.endswith("and no suite of a higher level may be chosen now.")
    made = strategy()
    made.costs = replace(made.costs, energy_j=dict.fromkeys(CORE, 9.0))
    decision, _ = made.decide(well(), made.initial_state(0.0), 0.0)
    assert decision.reason.endswith("and nothing stronger fits 800 ms and 2 J.")


def of_level(level: int) -> tuple[str, ...]:
    return tuple(name for name in CORE if CATALOGUE[name].level == level)


def test_what_is_refused_is_not_said_to_be_too_slow() -> None:
    refused = "handshakes of every suite of {} that fits are refused."
    kept = after(well(blacklisted=of_level(5)))
    assert (kept.guard, kept.acts) == ("kept", False)
    assert kept.reason.endswith(f"calm for 35 s, and {refused.format('level 5')}")
    due = change(well(blacklisted=of_level(3)), session=DUE)
    assert after(due, 0.0).reason == f"Keys are 10000 s old, due at 60 s, but {refused.format('its level')}"
    assert after(change(due, session=FRESH), 0.0).reason.endswith(f"; by a ratchet: {refused.format('its level')}")
    alarmed = change(due, session={"key_age_s": 1.0}, threat=Threat.ATTACK, threat_response="renew_keys")
    assert after(alarmed, 0.0).reason.endswith(f"so they would be renewed, but {refused.format('its level')}")


def test_its_conditions_have_budget_cost_and_the_calm_that_is_left() -> None:
    made = strategy()
    inputs, state = well(), made.initial_state(0.0)
    for now in range(18):
        _, state = made.decide(inputs, state, float(now))
    found = {each.what: each for each in made.conditions(inputs, state, 17.0)}
    assert found["trouble"].value == "none" and found["trouble"].met is False
    assert found[f"cost of {code(DEFAULT)}"].limit == "> 1000 ms"
    assert (found["calm has lasted"].value, found["calm has lasted"].limit) == ("17 s", ">= 30 s")
    assert found["calm has lasted"].met is False
    assert found["cost of ML-1024-AG-FA-1024"].value == "38.94 ms" and found["next step up in"].value == "0 s"
    hot = well(thermal=WARMING)
    _, state = made.decide(hot, state, 18.0)
    tight = {each.what: each for each in made.conditions(hot, state, 18.0)}
    assert tight[f"cost of {code(DEFAULT)}"].limit == "> 100 ms" and tight["trouble"].met


def code(name: str) -> str:
    return CATALOGUE[name].short_code


@pytest.mark.parametrize("phase", [Phase.TAKEOFF, Phase.LANDING])
def test_not_in_a_manoeuvre_nor_where_the_phase_is_not_known(phase: Phase) -> None:
    assert after(well(vehicle={"phase": phase})).guard == "kept"
    assert after(well(vehicle={"valid": False})).guard == "kept"


@pytest.mark.parametrize(("budget_ms", "climbs"), [(48.0, False), (49.0, True)])
def test_what_does_not_fit_the_share_of_the_budget_is_not_climbed_to(budget_ms: float, climbs: bool) -> None:
    assert after(well(), limits={"budget_ms": budget_ms}).acts is climbs
    assert after(well(), limits={"budget_ms": 46.0, "climb_share": 0.9}).acts


def test_a_link_of_your_radio_decides_what_fits() -> None:
    assert after(well(), limits={"link_kbit_s": 40.0}).guard == "kept"
    assert after(well(link={"loss": 0.09}), limits={"link_kbit_s": 48.0}).guard == "kept"
    assert after(well(), limits={"link_kbit_s": 48.0}).to_suite == BEST


@pytest.mark.parametrize(
    ("near", "climbs"),
    [
        ({"battery": {"voltage_v": 14.39}}, False),
        ({"battery": {"voltage_v": 14.4}}, True),
        ({"battery": {"voltage_v": 21.59, "cells": 6}}, False),
        ({"battery": {"voltage_v": 21.61, "cells": 6}}, True),
        ({"battery": {"voltage_v": 14.39, "valid": False}}, True),
        ({"battery": {"state_of_charge": 0.169}}, False),
        ({"battery": {"state_of_charge": 0.171}}, True),
        ({"thermal": {"temperature_c": 79.1}}, False),
        ({"thermal": {"temperature_c": 79.0}}, True),
    ],
)
def test_near_an_emergency_nothing_climbs(near: dict[str, Any], climbs: bool) -> None:
    assert after(well(**near)).acts is climbs


@pytest.mark.parametrize(("since", "climbs"), [(59.0, False), (60.0, True)])
def test_one_step_up_at_a_time(since: float, climbs: bool) -> None:
    made = strategy(tau_up_s=1.0)
    state = made.initial_state(0.0)
    for second in range(2):
        decision, state = made.decide(well(), state, float(second))
    assert decision.guard == "climb"
    for second in range(2, int(since) + 1):
        quiet = second < since
        decision, state = made.decide(well(battery={"voltage_v": 14.1} if quiet else {}), state, float(second))
    decision, state = made.decide(well(), state, 1.0 + since)
    assert decision.acts is climbs


def test_the_emergency_is_as_published_and_keys_are_renewed_in_it() -> None:
    hot = well(BEST, thermal=HOT)
    assert (after(hot).action, after(hot).to_suite) == (Action.DOWN_0, LIGHT)
    lightest = change(well(LIGHT, thermal=HOT), session=DUE)
    assert (after(lightest).action, after(lightest).guard) == (Action.REKEY, "renew")


def test_trouble_that_lasts_leaves_an_expensive_suite_for_a_cheap_one_of_its_level() -> None:
    for trouble in ({"thermal": WARMING}, {"link": {"loss": 0.2}}, {"threat": Threat.ATTACK}):
        decision = after(well(HQC, vehicle=HOVER, **trouble))
        assert (decision.action, decision.guard, decision.to_suite) == (Action.DOWN, "save", BEST)
        assert after(well(HQC, vehicle=HOVER, **trouble), 4.0).guard == "kept"
        assert after(well(BEST, vehicle=HOVER, **trouble)).guard == "kept"


@pytest.mark.parametrize(("tight_ms", "saves"), [(495.0, True), (497.0, False)])
def test_the_tight_budget_is_the_limit_in_trouble(tight_ms: float, saves: bool) -> None:
    decision = after(well(HQC, vehicle=HOVER, thermal=WARMING), 10.0, {"tight_ms": tight_ms})
    assert decision.acts is saves, decision.reason


def test_only_strain_leads_to_a_lower_level_and_only_where_no_suite_of_the_level_fits() -> None:
    few = (HQC, LIGHT)
    strained = well(HQC, vehicle=HOVER, available=few, thermal=WARMING)
    assert after(strained).to_suite == LIGHT
    for trouble in ({"link": {"loss": 0.2}}, {"threat": Threat.ATTACK}):
        assert after(well(HQC, vehicle=HOVER, available=few, **trouble)).guard == "kept"
    assert after(change(strained, configured_suite=HQC)).guard == "kept"


def test_keys_that_are_due_are_renewed_with_the_best_suite_of_the_level() -> None:
    fresh = after(change(well(BEST), session=DUE), 0.0)
    assert (fresh.action, fresh.to_suite) == (Action.REKEY, BEST)
    young = change(well(BEST), session={"key_age_s": 59.9})
    assert after(young, 0.0).guard == "kept"
    heavy = after(change(well(HEAVY, vehicle=HOVER), session=DUE), 0.0)
    assert (heavy.action, heavy.guard, heavy.to_suite) == (Action.DOWN, "renew", BEST)
    assert after(change(well(BEST, vehicle={"phase": Phase.TAKEOFF}), session=DUE)).guard == "kept"


def test_keys_wait_for_a_link_that_carries_the_handshake() -> None:
    fading = change(well(BEST, link={"loss": 0.95}), session=DUE)
    decision = after(fading, 0.0)
    assert (decision.action, decision.guard) == (Action.HOLD, "renew")
    assert decision.reason.endswith("costs 738 of 100 ms, and no other of its level fits.")
    assert after(change(fading, link={"loss": 0.3}), 0.0).action is Action.REKEY


FRESH = {**DUE, "ratchet_for_s": 3000.0}


def test_a_ratchet_renews_what_no_handshake_can() -> None:
    fading = change(well(BEST, link={"loss": 0.95}), session=FRESH)
    decision = after(fading, 0.0)
    assert (decision.action, decision.guard, decision.kind) == (Action.REKEY, "renew", Kind.RATCHET)
    words = "ML-1024-AG-FA-1024 (level 5) costs 738 of 100 ms, and no other of its level fits."
    assert decision.reason == f"Keys are 10000 s old, due at 60 s; by a ratchet: {words}"
    assert after(change(fading, session={"ratchets": 7}), 0.0).acts, (
        "the eighth in a row, where nothing else can be had"
    )
    assert after(change(fading, vehicle={"phase": Phase.LANDING}), 0.0).guard == "kept"
    assert after(change(fading, session={"ratchet_for_s": 0.0}), 0.0).guard == "renew"
    assert not after(change(fading, session={"ratchet_for_s": 0.0}), 0.0).acts


@pytest.mark.parametrize(("link_kbit_s", "acts"), [(25.0, False), (26.0, True)])
def test_a_ratchet_has_to_fit_the_budget_of_calm(link_kbit_s: float, acts: bool) -> None:
    """3,136 bytes of level 5, and at most 2.2 ms of computation, in trouble too."""
    bad = change(well(BEST, link={"gap_p95_s": 3.0}), session=FRESH)
    assert after(bad, 0.0, {"link_kbit_s": link_kbit_s}).acts is acts


def test_a_handshake_that_fits_is_made_in_full_and_a_long_one_is_not() -> None:
    assert after(change(well(BEST), session=FRESH), 0.0).kind is Kind.REKEY
    long = suite("HQC-256-AG-SP-256s")
    only = change(well(long, vehicle=GROUND, available=(long,)), session=FRESH)
    roomy = {"budget_ms": 60000.0}
    decision = after(only, 0.0, roomy)
    assert (decision.action, decision.kind) == (Action.REKEY, Kind.RATCHET)
    assert decision.reason.endswith("by a ratchet: key and signature of a full handshake are 37037 bytes.")
    assert after(change(only, session={"ratchets": 7}), 0.0, roomy).kind is Kind.REKEY
    assert after(change(only, session={"ratchet_for_s": 0.0}), 0.0, roomy).kind is Kind.REKEY


def test_what_leaves_a_suite_is_a_full_handshake() -> None:
    heavy = after(change(well(HEAVY, vehicle=HOVER), session=FRESH), 0.0)
    assert (heavy.action, heavy.kind) == (Action.DOWN, Kind.REKEY)


def test_blackouts_never_lead_back_to_a_lower_level() -> None:
    made = strategy()
    state = made.initial_state(0.0)
    _, state = made.decide(well(DEFAULT), state, 50.0)
    bad = well(BEST, epoch=1, switched=51.0, link={"blackouts_near_switch": 9})
    decision, state = made.decide(bad, state, 57.0)
    assert not decision.acts
    state = made.initial_state(0.0)
    _, state = made.decide(well(HQC), state, 50.0)
    decision, _ = made.decide(bad, state, 57.0)
    assert (decision.action, decision.to_suite) == (Action.ROLLBACK, HQC)


def test_a_rollback_that_is_refused_stops_no_renewals() -> None:
    made, both = strategy(), (DEFAULT, suite("ML-768-CP-MD-65"))
    state = made.initial_state(0.0)
    _, state = made.decide(well(both[1], available=both), state, 50.0)
    bad = well(DEFAULT, epoch=1, switched=51.0, available=both, link={"blackouts_near_switch": 9})
    decision, state = made.decide(bad, state, 52.0)
    assert (decision.action, decision.to_suite) == (Action.ROLLBACK, both[1])
    refused = Outcome(both[1], False, 52.5, DEFAULT, "", "rejected")
    later = change(bad, link={"blackouts_near_switch": 0}, blacklisted=both[1:], outcomes=(refused,))
    _, state = made.decide(later, state, 53.0)
    decision, _ = made.decide(change(later, outcomes=(), session=DUE), state, 120.0)
    assert (decision.action, decision.to_suite) == (Action.REKEY, DEFAULT), decision.reason


def test_keys_are_renewed_at_the_interval_of_the_suite_that_is_left() -> None:
    ground = well(HQC, vehicle=GROUND, available=(HQC,))
    roomy = {"tight_ms": 60000.0}
    assert after(change(ground, session={"key_age_s": 299.0}), 0.0, roomy).guard == "kept"
    assert after(change(ground, session={"key_age_s": 300.0}), 0.0, roomy).action is Action.REKEY


def test_requests_that_fail_are_spaced_out() -> None:
    made = strategy()
    state = made.initial_state(0.0)
    asked = []
    failed: tuple[Outcome, ...] = ()
    for second in range(240):
        decision, state = made.decide(change(well(), outcomes=failed), state, float(second))
        failed = (Outcome(BEST, False, float(second), DEFAULT, "", "timeout"),) if decision.acts else ()
        asked += [second] if decision.acts else []
        assert decision.guard != "backoff" or decision.priority == 0, "no rule of the cascade"
    assert asked[0] == 30
    assert len(asked) < 5


def test_the_owner_may_leave_it_few_suites() -> None:
    only = tuple(name for name in CORE if CATALOGUE[name].kem_family == "HQC")
    decision = after(well(suite("HQC-192-AG-MD-65"), available=only))
    assert CATALOGUE[decision.to_suite].level == 5
    assert CATALOGUE[decision.to_suite].kem_family == "HQC"
