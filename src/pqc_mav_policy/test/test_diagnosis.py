# SPDX-License-Identifier: Apache-2.0
"""What /diagnostics says about the policy."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import CATALOGUE, DEFAULT, well

from pqc_mav_common.diagnostics import Diagnostic, Level
from pqc_mav_policy.controller import Controller, Tick
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.diagnosis import diagnose
from pqc_mav_policy.loss_alert import LossAlert
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.shedding import Shedding
from pqc_mav_policy.strategies.cascade.cascade import Cascade
from pqc_mav_policy.telemetry.inputs import Outcome
from pqc_mav_policy.telemetry.telemetry import Telemetry

EMPTY = "battery at 13.20 V, below 14 V"


def said(
    guard: str,
    action: Action = Action.HOLD,
    problem: str = "",
    mode: Any = "auto",
    ok: Any = None,
    emergency: str = "",
    reason: str = "Because.",
) -> Diagnostic:
    parameters = PolicyParameters()
    telemetry = Telemetry(30.0, 10.0)
    controller = Controller(Cascade(CATALOGUE, parameters), CATALOGUE, parameters, telemetry, 0.0)
    if ok is not None:
        controller.last_outcome = Outcome(DEFAULT, ok, 1.0, message="It failed." if not ok else "Rekeyed.")
    decision = Decision(action, guard, reason, DEFAULT, DEFAULT)
    return diagnose(Tick(1.0, well(), decision, mode, None, emergency=emergency), controller, problem)


def test_the_operator_is_told_of_loss_whatever_was_decided() -> None:
    parameters = PolicyParameters()
    controller = Controller(Cascade(CATALOGUE, parameters), CATALOGUE, parameters, Telemetry(30.0, 10.0), 0.0)
    controller.loss_alert = LossAlert(0.0, "4.0 % of the drone's packets have been lost")
    for emergency, level in (("", Level.WARN), (EMPTY, Level.ERROR)):
        decision = Decision(Action.HOLD, "nominal", f"Because {emergency}.", DEFAULT, DEFAULT)
        report = diagnose(Tick(1.0, well(), decision, "auto", None, emergency=emergency), controller, "")
        assert (report.level, report.values["operator alert"]) == (level, controller.loss_alert.words)
        assert report.message.startswith("4.0 % of the drone's packets have been lost; HOLD")


@pytest.mark.parametrize(
    ("report", "level", "words"),
    [
        (said("nominal"), Level.OK, "HOLD (nominal): Because."),
        (said("nominal", ok=True), Level.OK, "nominal"),
        (
            said("emergency", Action.DOWN_0, emergency=EMPTY, reason=f"It is {EMPTY}."),
            Level.ERROR,
            "DOWN_0 (emergency)",
        ),
        (said("pinned", mode="manual", emergency=EMPTY), Level.ERROR, f"emergency, {EMPTY}; HOLD (pinned): Because."),
        (said("renew", Action.REKEY, emergency=EMPTY), Level.ERROR, f"emergency, {EMPTY}; REKEY (renew)"),
        (said("safety", emergency=EMPTY), Level.ERROR, "HOLD (safety)"),
        (said("safety"), Level.WARN, "safety"),
        (said("session"), Level.WARN, "session"),
        (said("link", Action.DOWN, mode="hold"), Level.WARN, "mode hold, not done"),
        (said("nominal", mode="hold"), Level.OK, "nominal"),
        (said("nominal", problem="no suite is usable"), Level.WARN, "no suite is usable"),
        (said("nominal", ok=False), Level.WARN, "the last request failed: It failed."),
    ],
)
def test_levels_and_words(report: Diagnostic, level: Level, words: str) -> None:
    assert report.subcomponent == "decision"
    assert report.level == level
    assert words in report.message
    assert report.values["strategy"] == "cascade"


def test_an_emergency_that_the_reason_names_is_not_named_twice() -> None:
    report = said("emergency", emergency=EMPTY, reason=f"Emergency: {EMPTY}; the lightest suite at once.")
    assert report.message.count(EMPTY) == 1


def test_load_that_is_shed_for_an_alarm_is_a_warning_with_how_often() -> None:
    parameters = PolicyParameters(shed_kbit=64)
    controller = Controller(Cascade(CATALOGUE, parameters), CATALOGUE, parameters, Telemetry(30.0, 10.0), 0.0)
    controller.shedding = Shedding(why="a detector reports it", alarms=3, by_alarm=True)
    tick = Tick(1.0, well(), Decision(Action.HOLD, "nominal", "Because.", DEFAULT, DEFAULT), "auto", None)
    report = diagnose(tick, controller, "")
    assert report.level == Level.WARN
    assert (report.values["shedding"], report.values["shed for alarms"]) == ("a detector reports it", 3)
    problem = "the proxy does not shape"
    assert diagnose(tick, controller, "", problem).message.startswith(f"load cannot be shed, {problem}; ")
    assert diagnose(tick, controller, "").message.startswith("HOLD")
    controller.shedding = Shedding()
    assert diagnose(tick, controller, "", problem).message.startswith("HOLD"), "nor is it to be"
