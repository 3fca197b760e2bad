# SPDX-License-Identifier: Apache-2.0
"""The simulated session: how long handshakes take, when they fail, and that data never waits for them."""

from __future__ import annotations

import pytest
from scenes import CATALOGUE, DEFAULT, suite

from pqc_mav_policy.telemetry.inputs import Phase, TunnelState
from pqc_mav_policy_lab.flight_model.conditions import Conditions
from pqc_mav_policy_lab.flight_model.costs import published_costs
from pqc_mav_policy_lab.flight_model.session import SecondOfWork, SessionModel

GOOD = Conditions(Phase.CRUISE, rtt_s=0.0)
SILENT = Conditions(Phase.CRUISE, silent=True)
HEAVY = suite("MC-8192-AG-MD-87")


def model(start: str = DEFAULT) -> SessionModel:
    return SessionModel(start, CATALOGUE, published_costs(CATALOGUE))


def run(
    session: SessionModel, conditions: Conditions, seconds: int, start: int = 0, slow: bool = False
) -> SecondOfWork:
    for index in range(seconds):
        work = session.step(conditions, float(start + index), slow)
        if work.finished or work.failed:
            return work
    return work


def test_a_light_handshake_is_done_within_its_second() -> None:
    session = model()
    session.request(suite("ML-1024-AG-MD-87"), 0.0)
    assert session.session(0.0).pending_suite == suite("ML-1024-AG-MD-87")
    work = run(session, GOOD, 1)
    assert work.finished == suite("ML-1024-AG-MD-87") and work.rekey and not work.failed
    now = session.session(1.0)
    assert (now.suite, now.epoch, now.state) == (suite("ML-1024-AG-MD-87"), 1, TunnelState.UP)
    assert now.key_age_s == pytest.approx(1.0 - work.took_s)
    (outcome,) = session.take_outcomes()
    assert outcome.ok and outcome.from_suite == DEFAULT and session.take_outcomes() == ()


def test_duration_is_computation_plus_transfer_plus_round_trips() -> None:
    session = model()
    session.request(HEAVY, 0.0)
    conditions = Conditions(Phase.CRUISE, bandwidth_kbit_s=8000.0, rtt_s=0.05, loss=0.2)
    work = run(session, conditions, 30)
    entry = CATALOGUE[HEAVY]
    expected = published_costs(CATALOGUE).compute_s[HEAVY]
    expected += entry.handshake_bytes * 8 / 1e3 / (0.5 * 8000.0 * 0.8) + 4 * 0.05
    assert work.finished == HEAVY and work.took_s == pytest.approx(expected, rel=1e-6)


def test_a_throttled_processor_computes_slower() -> None:
    fast, slow = model(), model()
    for session in (fast, slow):
        session.request(HEAVY, 0.0)
    assert run(slow, GOOD, 30, slow=True).took_s > run(fast, GOOD, 30).took_s + 0.2


def test_one_handshake_at_a_time() -> None:
    session = model()
    session.request(HEAVY, 0.0)
    session.step(GOOD, 0.0, False)
    session.request(DEFAULT, 1.0)
    (refused,) = session.take_outcomes()
    assert not refused.ok and refused.suite == DEFAULT and refused.error == "state"
    assert session.session(1.0).pending_suite == HEAVY and session.session(1.0).suite == DEFAULT


def test_a_handshake_over_a_dead_link_fails_and_the_suite_stays() -> None:
    session = model()
    session.request(HEAVY, 0.0)
    work = run(session, SILENT, 30)
    assert work.failed == HEAVY
    (outcome,) = session.take_outcomes()
    assert not outcome.ok and outcome.error == "timeout"
    assert session.suite == DEFAULT and session.session(30.0).epoch == 0


def test_a_handshake_through_a_trickle_is_given_up() -> None:
    session = model()
    session.request(HEAVY, 0.0)
    work = run(session, Conditions(Phase.CRUISE, bandwidth_kbit_s=20.0), 100)
    assert work.failed == HEAVY and work.took_s == pytest.approx(60.0)


def test_silence_degrades_the_session_and_then_it_reconnects() -> None:
    session = model()
    run(session, SILENT, 3)
    assert session.session(3.0).state is TunnelState.DEGRADED
    run(session, GOOD, 1, 3)
    assert session.session(4.0).state is TunnelState.UP and session.last_switch_s is None
    run(session, SILENT, 6, 4)
    work = run(session, GOOD, 2, 10)
    assert work.finished == DEFAULT and not work.rekey
    assert session.session(12.0).epoch == 0 and session.take_outcomes() == ()
