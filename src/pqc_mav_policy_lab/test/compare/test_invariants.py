# SPDX-License-Identifier: Apache-2.0
"""Each invariant's check finds its violation, and finds none where there is none."""

from __future__ import annotations

from typing import Any

import pytest
from random_flights import LADDER, PARAMETERS
from scenes import DEFAULT, suite, well

from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.parameters import STREAMS
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase
from pqc_mav_policy_lab.compare.invariants import KINDS, violations
from pqc_mav_policy_lab.flight_model.conditions import Conditions
from pqc_mav_policy_lab.flight_model.session import SecondOfWork
from pqc_mav_policy_lab.missions.fly import Second

LIGHTEST = suite("ML-512-AG-FA-512")
HEAVIER = suite("ML-1024-AG-MD-87")


def second(index: int, inputs: DecisionInput, action: Action = Action.HOLD, to: str = "") -> Second:
    current = inputs.session.suite
    decision = Decision(action, "test", "", current, to or current)
    return Second(index, inputs, decision, SecondOfWork(), Conditions(Phase.CRUISE), 4.0)


def found(*seconds: Second) -> dict[str, int]:
    return {kind: count for kind, count in violations(seconds, LADDER, PARAMETERS).items() if count}


def steady(count: int, **changes: Any) -> list[Second]:
    return [second(index, well(**changes)) for index in range(count)]


def test_a_quiet_flight_breaks_nothing() -> None:
    assert found(*steady(100)) == {} and set(violations([], LADDER, PARAMETERS)) == set(KINDS)


def test_acting_without_telemetry() -> None:
    late = well(**{key: {"age_s": 2.1} for key in STREAMS})
    assert found(second(0, late, Action.REKEY)) == {"I1": 1}
    assert found(second(0, late)) == {}


@pytest.mark.parametrize("hot", [{"thermal": {"temperature_c": 81.0}}, {"battery": {"voltage_v": 13.9}}])
def test_an_emergency_left_unanswered_counts_once(hot: dict[str, Any]) -> None:
    assert found(*steady(2, **hot)) == {}
    assert found(*steady(3, **hot)) == found(*steady(50, **hot)) == {"I1": 1}
    assert found(*steady(50, current=LIGHTEST, **hot)) == {}
    pending = {**hot, "session": {"pending_suite": LIGHTEST}}
    assert found(*steady(50, **pending)) == {}
    alone = {**hot, "available": (DEFAULT,)}
    assert found(*steady(50, **alone)) == {}
    cool = steady(1)
    assert found(*steady(50, **hot), *cool, *steady(50, **hot)) == {"I1": 2}


def test_a_request_that_is_never_answered() -> None:
    waiting = {"session": {"pending_suite": HEAVIER}}
    assert found(*steady(61, **waiting)) == {}
    assert found(*steady(200, **waiting)) == {"I2": 1}


def test_a_heavier_suite_under_stress() -> None:
    for trouble in ({"link": {"loss": 0.2}}, {"battery": {"rate_mv_per_min": -600.0}}):
        assert found(second(0, well(**trouble), Action.UPGRADE, HEAVIER)) == {"I3": 1}
        assert found(second(0, well(**trouble), Action.DOWN, LIGHTEST)) == {}
        assert found(second(0, well(**trouble), Action.REKEY)) == {}
    assert found(second(0, well(), Action.UPGRADE, HEAVIER)) == {}


def switching(gap: int, count: int, action: Action = Action.REKEY) -> list[Second]:
    """`count` switches `gap` seconds apart, each asked for one second before it is seen."""
    seconds = [second(0, well(epoch=0, switched=-1e6), Action.REKEY)]
    for epoch in range(1, count + 1):
        at = 1 + (epoch - 1) * gap
        for index in range(at, at + gap):
            last = index == at + gap - 1
            seconds.append(second(index, well(epoch=epoch, switched=float(at)), action if last else Action.HOLD))
    return seconds


def test_changes_within_the_cooldown() -> None:
    assert found(*switching(6, 4)) == {}  # asked for five seconds after each switch
    assert found(*switching(5, 4)) == {"cooldown": 4}
    assert found(*switching(5, 4, Action.DOWN_0)) == {}


def test_more_rekeys_than_the_limit() -> None:
    assert found(*switching(20, 4)) == {}
    assert found(*switching(20, 7)) == {"rate": 3}
    assert found(*switching(20, 7, Action.ROLLBACK)) == {}
    assert found(*switching(70, 10)) == {}


def test_reconnecting_is_no_rekey() -> None:
    flight = [second(index, well(epoch=0, switched=float(index))) for index in range(20)]
    assert found(*flight, second(20, well(epoch=0, switched=19.0), Action.REKEY)) == {}
