# SPDX-License-Identifier: Apache-2.0
"""What the rules do beyond their thresholds: order, ways round, phases, keys that cannot be renewed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from scenes import CATALOGUE, DEFAULT, GROUND, change, every, suite, well

from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.parameters import STREAMS
from pqc_mav_policy.strategies.cascade.cascade import Cascade
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase, Threat, TunnelState

LIGHT = suite("ML-512-AG-FA-512")
HQC = suite("HQC-192-AG-MD-65")
MCELIECE = suite("MC-460-AG-MD-65")
HOVER = {"phase": Phase.HOVER}
PUBLISHED = Path(__file__).resolve().parents[2] / "published" / "rpi5_policy_cascade.csv"


def decide(*frames: tuple[float, DecisionInput], **parameters: Any) -> Decision:
    """The last decision over snapshots; between two of them the earlier is repeated once a second."""
    strategy = Cascade(CATALOGUE, every(**parameters))
    memory = strategy.initial_state(frames[0][0])
    decision = None
    for (start, inputs), end in zip(frames, [time for time, _ in frames[1:]] + [frames[-1][0] + 0.5], strict=True):
        now = start
        while now < end:
            decision, memory = strategy.decide(inputs, memory, now)
            now += 1.0
    assert decision is not None
    return decision


# One snapshot per published row that meets it and every row below it that can be met together with it.
ALL_BELOW: dict[str, dict[str, Any]] = {
    "Safety": {key: {"age_s": 2.1} for key in STREAMS},
    "Emergency": {"battery": {"voltage_v": 13.9}},
    "Blackout": {"link": {"blackouts_near_switch": 4}},
    "Cooldown": {"session": {"last_switch_s": 98.0, "epoch": 1}},
    "Link": {"link": {"gap_p95_s": 1.1}},
    "Stress": {"thermal": {"rate_c_per_min": 5.1}},
    "Rekey": {"session": {"key_age_s": 1e4}},
}


def test_the_published_cascade_row_by_row_in_its_order() -> None:
    """Each row wins over every row after it."""
    with PUBLISHED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["priority"]) for row in rows] == list(range(1, 10))
    for index, row in enumerate(rows[:7]):
        inputs = well(HQC, vehicle=GROUND)
        for name in reversed([other["guard"] for other in rows[index:7]]):
            inputs = change(inputs, **ALL_BELOW[name])
        before = well(HQC, vehicle=GROUND)
        if row["guard"] == "Blackout":
            # There has to be a suite to go back to, and no stress that keeps the drone from it.
            inputs = change(well(LIGHT, vehicle=GROUND), **ALL_BELOW["Blackout"], **ALL_BELOW["Cooldown"])
        persistent = row["guard"] in ("Link", "Stress")
        frames = [(90.0, inputs), (100.0, inputs)] if persistent else [(30.0, before), (100.0, inputs)]
        if row["guard"] == "Rekey":
            frames = [(0.0, inputs), (61.0, inputs)]
        decision = decide(*frames)
        assert (decision.priority, decision.guard, str(decision.action)) == (
            int(row["priority"]),
            row["guard"].lower(),
            row["action"],
        )


def test_upgrade_and_nominal_close_the_cascade() -> None:
    upgrade = decide((0.0, well(LIGHT, vehicle=GROUND)), (30.0, well(LIGHT, vehicle=GROUND)))
    assert (upgrade.priority, upgrade.action, upgrade.to_suite) == (8, Action.UPGRADE, DEFAULT)
    nominal = decide((0.0, well()), (30.0, well()))
    assert (nominal.priority, nominal.guard, nominal.action) == (9, "nominal", Action.HOLD)


def test_upgrade_is_for_the_ground_and_never_down() -> None:
    assert decide((0.0, well(LIGHT)), (40.0, well(LIGHT))).guard == "nominal"
    unknown = well(LIGHT, vehicle={"armed": None})
    assert decide((0.0, unknown), (40.0, unknown)).guard == "nominal"
    heavier = well(HQC, vehicle=GROUND)
    assert decide((0.0, heavier), (40.0, heavier)).guard == "nominal"
    highest = decide((0.0, heavier), (40.0, heavier), target_suite="max")
    assert highest.to_suite == suite("MC-8192-AS-SP-256s")


@pytest.mark.parametrize("state", [TunnelState.DOWN, TunnelState.HANDSHAKING])
def test_without_a_session_nothing_is_asked_for(state: TunnelState) -> None:
    hot = well(thermal={"temperature_c": 90.0}, session={"state": state})
    assert decide((0.0, hot)).guard == "session"
    assert decide((0.0, change(hot, session={"state": TunnelState.UP, "suite": ""}))).guard == "session"


def test_a_suite_of_a_newer_registry_is_left_alone() -> None:
    assert "not in the registry" in decide((0.0, well("cs-new-aesgcm-new"))).reason


def test_an_emergency_on_the_lightest_suite_stays_there() -> None:
    decision = decide((0.0, well(LIGHT, battery={"voltage_v": 13.0})))
    assert (decision.action, decision.guard, decision.to_suite) == (Action.HOLD, "emergency", LIGHT)


def test_an_emergency_does_not_wait_for_cooldown_hysteresis_or_rate_limit() -> None:
    frames = [(float(n), well(epoch=n, switched=float(n))) for n in range(1, 8)]
    decision = decide(*frames, (8.0, well(epoch=8, switched=8.0, battery={"voltage_v": 13.9})))
    assert decision.action is Action.DOWN_0


def test_an_invalid_stream_shows_nothing() -> None:
    assert decide((0.0, well(battery={"voltage_v": 1.0, "valid": False}))).guard == "nominal"
    assert decide((0.0, well(thermal={"temperature_c": 99.0, "valid": False}))).guard == "nominal"
    assert decide((0.0, well(link={"gap_p95_s": 9.0, "loss": 1.0, "valid": False}))).guard == "nominal"


def rolled(before: str, after: str, **changes: Any) -> Decision:
    """Blackouts just after a change of suite."""
    inputs = well(after, epoch=1, switched=99.0, link={"blackouts_near_switch": 4}, vehicle=HOVER)
    return decide((50.0, well(before, vehicle=HOVER)), (100.0, change(inputs, **changes)))


def test_rollback_goes_to_the_suite_before_also_to_a_heavier_one() -> None:
    assert rolled(HQC, LIGHT).to_suite == HQC
    assert rolled(LIGHT, HQC).to_suite == LIGHT


def test_rollback_does_not_climb_under_stress_nor_to_what_may_not_be_chosen() -> None:
    assert rolled(HQC, LIGHT, thermal={"rate_c_per_min": 9.0}).guard == "cooldown"
    assert rolled(LIGHT, HQC, thermal={"rate_c_per_min": 9.0}).action is Action.ROLLBACK
    assert rolled(HQC, LIGHT, blacklisted=(HQC,)).guard == "cooldown"
    assert rolled(HQC, LIGHT, vehicle={"phase": Phase.TAKEOFF}).guard == "cooldown"


def test_a_renewal_of_keys_leaves_nothing_to_roll_back_to() -> None:
    assert rolled(DEFAULT, DEFAULT).guard == "cooldown"


def test_a_rollback_is_not_undone() -> None:
    strategy = Cascade(CATALOGUE, every())
    memory = strategy.initial_state(0.0)
    _, memory = strategy.decide(well(HQC), memory, 50.0)
    bad = well(LIGHT, epoch=1, switched=51.0, link={"blackouts_near_switch": 4})
    decision, memory = strategy.decide(bad, memory, 52.0)
    assert decision.action is Action.ROLLBACK
    again = well(HQC, epoch=2, switched=53.0, link={"blackouts_near_switch": 4})
    decision, memory = strategy.decide(again, memory, 54.0)
    assert decision.guard == "cooldown"
    assert memory.abandoned == LIGHT


def test_throttling_and_attacks_are_stress_unless_switched_off() -> None:
    slow, attacked = well(thermal={"throttled": True}), well(threat=Threat.ATTACK, threat_kind="flood")
    assert decide((0.0, slow)).guard == "stress"
    assert "(flood)" in decide((0.0, attacked)).reason
    assert decide((0.0, slow), throttled_is_stress=False).guard == "nominal"
    assert decide((0.0, attacked), attack_is_stress=False).guard == "nominal"
    assert decide((0.0, well(threat=Threat.SUSPICIOUS))).guard == "nominal"


def test_stress_steps_down_one_family_at_a_time_at_the_same_level() -> None:
    hot = {"rate_c_per_min": 9.0}
    first = well(suite("MC-460-AG-MD-65"), vehicle=HOVER, thermal=hot)
    assert decide((0.0, first), (5.0, first)).to_suite == HQC
    last = well(suite("ML-512-AG-MD-44"), thermal=hot)
    assert "No lighter suite" in decide((0.0, last), (5.0, last)).reason


def test_a_suite_unfit_for_the_phase_is_left_for_a_fit_one() -> None:
    cruising = well(MCELIECE)
    decision = decide((0.0, cruising), (5.0, cruising))
    assert (decision.action, decision.guard, decision.to_suite) == (Action.DOWN, "phase", HQC)
    assert "unfit for phase cruise" in decision.reason
    assert decide((0.0, cruising), (9.0, cruising), phase_bands=False).guard == "nominal"
    only = change(cruising, available=(MCELIECE,))
    assert decide((0.0, only), (9.0, only)).guard == "nominal"


@pytest.mark.parametrize("phase", [Phase.TAKEOFF, Phase.LANDING])
@pytest.mark.parametrize("code", ["MC-8192-AG-MD-87", "MC-460-AG-MD-65", "HQC-192-AG-MD-65", "ML-768-AG-SP-192s"])
def test_a_running_session_is_not_left_in_mid_climb(code: str, phase: Phase) -> None:
    """It costs nothing; leaving it would cost a handshake in the middle of a manoeuvre."""
    climbing = well(suite(code), vehicle={"phase": phase})
    assert decide((0.0, climbing), (60.0, climbing)).guard == "nominal"


def test_keys_are_not_renewed_with_a_suite_that_is_about_to_be_left() -> None:
    """The phase changed, which is when McEliece renews its keys, but to a phase it is unfit for."""
    hovering = change(well(MCELIECE, vehicle=HOVER), session={"key_age_s": 1e5})
    cruising = change(hovering, vehicle={"phase": Phase.CRUISE})
    decisions = [decide((0.0, hovering), (100.0, cruising), (100.0 + wait, cruising)) for wait in range(7)]
    assert not any(decision.action is Action.REKEY for decision in decisions)
    assert decisions[-1].guard == "phase"


def test_nor_is_it_left_while_the_phase_is_not_known() -> None:
    unknown = well(MCELIECE, vehicle={"valid": False, "phase": Phase.UNKNOWN})
    assert decide((0.0, unknown), (30.0, unknown)).guard == "nominal"


def test_mceliece_renews_its_keys_when_the_phase_changed_and_only_then() -> None:
    hovering = change(well(MCELIECE, vehicle=HOVER), session={"key_age_s": 1e5})
    assert decide((0.0, hovering), (600.0, hovering)).guard == "nominal"
    ground = change(hovering, vehicle=GROUND)
    decision = decide((0.0, hovering), (100.0, ground), (170.0, ground), target_suite=MCELIECE)
    assert (decision.action, decision.guard) == (Action.REKEY, "rekey")
    assert "phase of flight changed" in decision.reason


def test_no_periodic_rekey_during_take_off_and_landing() -> None:
    for phase in (Phase.TAKEOFF, Phase.LANDING):
        busy = change(well(), vehicle={"phase": phase}, session={"key_age_s": 1e4})
        assert decide((0.0, busy), (90.0, busy)).guard == "nominal"


def test_keys_of_a_suite_that_is_refused_are_renewed_by_leaving_it_at_its_own_level() -> None:
    due = change(well(HQC), session={"key_age_s": 1e4}, blacklisted=(HQC,))
    decision = decide((0.0, due), (61.0, due))
    assert (decision.action, decision.to_suite) == (Action.DOWN, DEFAULT)
    last = change(well(), session={"key_age_s": 1e4}, blacklisted=(DEFAULT,))
    decision = decide((0.0, last), (61.0, last))
    assert (decision.action, decision.guard) == (Action.HOLD, "rekey")
    assert "no lighter suite of its level is left" in decision.reason


def test_in_an_emergency_without_any_suite_left_the_running_one_is_kept() -> None:
    hot = well(thermal={"temperature_c": 90.0}, available=(DEFAULT, LIGHT), blacklisted=(DEFAULT, LIGHT))
    decision = decide((0.0, hot))
    assert (decision.action, decision.guard, decision.to_suite) == (Action.HOLD, "emergency", DEFAULT)
    assert "no lighter suite may be chosen" in decision.reason


def test_reasons_carry_the_figures() -> None:
    assert decide((0.0, well(battery={"voltage_v": 13.91}))).reason == (
        "Emergency: battery at 13.91 V, below 14 V; the lightest suite at once."
    )
    assert "82.5 C" in decide((0.0, well(thermal={"temperature_c": 82.5}))).reason
    late = well(link={"age_s": 3.2})
    held = decide((0.0, late), required=STREAMS)
    assert (held.guard, held.reason) == (
        "safety",
        "Holding: telemetry is required: link: 3.2 s old, limit 2 s.",
    )
    assert "12.0 % of the packets are lost" in decide((0.0, well(link={"loss": 0.12}))).reason
