# SPDX-License-Identifier: Apache-2.0
"""The expert's guards, each choosing as published out of the published measurements."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import CATALOGUE, CORE, DEFAULT, GROUND, change, every, suite, well

from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.expert.expert import Expert
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters
from pqc_mav_policy.strategies.expert.performance import DEFAULT_FILE, PerformanceTable, load
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase, Threat

TABLE = load(DEFAULT_FILE)
MCELIECE = suite("MC-460-AG-MD-65")
HOVER = {"phase": Phase.HOVER}
FREE = every(phase_bands=False)


def after(
    inputs: DecisionInput, lasted: float = 5.0, table: PerformanceTable = TABLE, parameters: PolicyParameters = FREE
) -> Decision:
    """The decision once the inputs have lasted that long after 20 good seconds."""
    expert = Expert(CATALOGUE, parameters, ExpertParameters(), table)
    state = expert.initial_state(0.0)
    good = change(well(inputs.session.suite), vehicle=inputs.vehicle, available=inputs.available)
    for second in range(21):
        decision, state = expert.decide(good, state, float(second))
    times = [21.0 + second for second in range(int(lasted) + 1) if second < lasted]
    for now in (*times, 21.0 + lasted):
        decision, state = expert.decide(inputs, state, now)
    return decision


@pytest.mark.parametrize(
    ("inputs", "guard", "choice"),
    [
        (well(threat=Threat.ATTACK, threat_kind="flood"), "heartbeat", "ML-1024-CP-MD-87"),
        (well(link={"longest_silence_s": 3.5}), "heartbeat", "ML-1024-CP-MD-87"),
        (well(battery={"voltage_v": 14.5}), "battery-low", "HQC-256-AG-MD-87"),
        (well(battery={"state_of_charge": 0.2}), "battery-low", "HQC-256-AG-MD-87"),
        (well(MCELIECE, thermal={"temperature_c": 72.0}), "thermal-elevated", "HQC-192-CP-MD-65"),
        (well(suite("MC-460-CP-MD-65"), link={"loss": 0.05}), "loss", "ML-768-CP-MD-65"),
    ],
)
def test_each_guard_chooses_as_published(inputs: DecisionInput, guard: str, choice: str) -> None:
    decision = after(inputs)
    assert (decision.guard, CATALOGUE[decision.to_suite].short_code) == (guard, choice)
    lighter = decision.action is Action.DOWN
    assert decision.action in (Action.DOWN, Action.UPGRADE)
    expert = Expert(CATALOGUE, FREE, ExpertParameters(), TABLE)
    assert lighter == expert.ladder.lighter(decision.to_suite, inputs.session.suite)


def test_published_figures_behind_the_choices() -> None:
    assert TABLE[suite("HQC-256-AG-MD-87")].power_w == 4.243
    assert min(row.power_w for row in TABLE.values() if row.power_w is not None) == 4.243
    assert TABLE[suite("ML-1024-CP-MD-87")].handshake_ms == pytest.approx(10.8, abs=0.05)
    assert len(TABLE) == 30
    assert not any(row.simulated for row in TABLE.values())


def test_thermal_guard_leaves_mceliece_for_mlkem_where_hqc_is_not_available() -> None:
    only = tuple(name for name in CORE if CATALOGUE[name].kem_family != "HQC")
    decision = after(well(MCELIECE, available=only, thermal={"temperature_c": 72.0}))
    assert decision.to_suite == DEFAULT


def test_thermal_guard_does_not_trade_power_for_time_between_cheap_families() -> None:
    here = suite("HQC-192-CP-MD-65")
    assert TABLE[DEFAULT].handshake_ms < TABLE[here].handshake_ms
    assert after(well(here, thermal={"temperature_c": 72.0})).action is Action.HOLD


def test_only_available_core_suites_are_chosen() -> None:
    only = (DEFAULT, suite("ML-512-CP-MD-44"))
    decision = after(well(available=only, battery={"voltage_v": 14.5}))
    assert decision.to_suite in only


def test_bands_of_the_phase_of_flight_bind_the_expert_too() -> None:
    decision = after(well(battery={"voltage_v": 14.5}, vehicle={"phase": Phase.TAKEOFF}), parameters=every())
    assert CATALOGUE[decision.to_suite].kem_family == "ML-KEM"


@pytest.mark.parametrize(
    ("name", "inputs_at", "limit", "step", "rising"),
    [
        ("thermal-elevated", lambda x: well(MCELIECE, vehicle=HOVER, thermal={"temperature_c": x}), 70.0, 0.1, True),
        ("battery-low", lambda x: well(battery={"voltage_v": x}), 14.8, 0.01, False),
        ("battery-low", lambda x: well(battery={"state_of_charge": x}), 0.30, 0.001, False),
        ("heartbeat", lambda x: well(link={"longest_silence_s": x}), 3.0, 0.01, True),
        ("loss", lambda x: well(link={"loss": x}), 0.03, 0.0001, True),
    ],
)
def test_every_guard_stands_just_beyond_its_limit_only(
    name: str, inputs_at: Any, limit: float, step: float, rising: bool
) -> None:
    sign = 1 if rising else -1
    assert after(inputs_at(limit)).guard == "clear"
    assert after(inputs_at(limit - sign * step)).guard == "clear"
    assert after(inputs_at(limit + sign * step)).guard == name


def test_what_counts_as_fast_is_a_parameter() -> None:
    attacked = well(threat=Threat.ATTACK)
    assert TABLE[suite("ML-768-CP-MD-65")].handshake_ms == 19.89
    only = (DEFAULT, suite("ML-768-CP-MD-65"))
    assert after(change(attacked, available=only)).to_suite == suite("ML-768-CP-MD-65")
    slow = Expert(CATALOGUE, FREE, ExpertParameters(fast_handshake_ms=19.8), TABLE)
    state = slow.initial_state(0.0)
    for second in range(8):
        decision, state = slow.decide(change(attacked, available=only), state, float(second))
    assert decision.action is Action.HOLD


def test_a_guard_has_to_last_before_it_acts() -> None:
    hot = well(MCELIECE, vehicle=HOVER, thermal={"temperature_c": 72.0})
    assert after(hot, 4.9).action is Action.HOLD
    assert "Watching" in after(hot, 4.9).reason
    assert after(hot, 5.0).action is Action.DOWN


def test_guards_come_in_order_and_the_cascades_protection_first() -> None:
    both = well(threat=Threat.ATTACK, battery={"voltage_v": 14.5})
    assert after(both).guard == "heartbeat"
    assert after(change(both, battery={"voltage_v": 13.0})).guard == "emergency"
    late = {key: {"age_s": 4.0} for key in ("battery", "thermal", "vehicle", "link")}
    assert after(change(both, **late)).guard == "safety"


def test_an_acted_on_guard_holds_afterwards() -> None:
    frugal = suite("HQC-256-AG-MD-87")
    decision = after(well(frugal, battery={"voltage_v": 14.5}, vehicle=HOVER))
    assert (decision.action, decision.guard) == (Action.HOLD, "battery-low")


def test_clear_guards_leave_the_requested_suite_and_renew_its_keys() -> None:
    assert after(well()).guard == "clear"
    expert = Expert(CATALOGUE, FREE, ExpertParameters(), TABLE)
    state = expert.initial_state(0.0)
    for second in range(62):
        decision, state = expert.decide(change(well(), session={"key_age_s": float(second)}), state, float(second))
    assert decision.action is Action.REKEY
    state = expert.initial_state(0.0)
    for second in range(31):
        decision, state = expert.decide(well(suite("ML-512-AG-FA-512"), vehicle=GROUND), state, float(second))
    assert (decision.action, decision.to_suite) == (Action.UPGRADE, DEFAULT)
