# SPDX-License-Identifier: Apache-2.0
"""Every check of the verdict can fail, and says what was wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from scenario_flights import LIGHT, decision, direction, flown, threat, without

from pqc_mav_cli.demo.scenario_result import ScenarioResult
from pqc_mav_cli.demo.scenarios import SCENARIOS


def failed(result: ScenarioResult) -> dict[str, str]:
    return {check.name: check.text for check in result.checks() if not check.ok}


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name != "nominal"])
def test_a_good_flight_passes(name: str) -> None:
    result = flown(name)
    assert result.passed, failed(result)
    assert json.loads(json.dumps(result.as_json()))["passed"]


def spoil_loss(result: ScenarioResult) -> None:
    result.downlink = direction(30_000, result.link_lost[0] + 1)


def spoil_twice(result: ScenarioResult) -> None:
    result.uplink = direction(3_500, result.link_lost[1], duplicates=1)


def spoil_count(result: ScenarioResult) -> None:
    result.uplink = None


def spoil_flight(result: ScenarioResult) -> None:
    result.steps = {"arm": True}


def spoil_guard(result: ScenarioResult) -> None:
    result.trace.decisions = [replace(row, guard="other") for row in result.trace.decisions]


def spoil_use(result: ScenarioResult) -> None:
    result.trace.status = [row for row in result.trace.status if row.suite != LIGHT]


def spoil_upgrade(result: ScenarioResult) -> None:
    result.trace.decisions = without(result, "UPGRADE")


def spoil_final(result: ScenarioResult) -> None:
    result.final_suite = LIGHT


def spoil_upgrade_in_flight(result: ScenarioResult) -> None:
    rows = result.trace.decisions
    result.trace.decisions = [replace(row, t=60.0) if row.action == "UPGRADE" else row for row in rows]


def spoil_rekey(result: ScenarioResult) -> None:
    result.trace.rekeys = [replace(row, ok=False, reason="It timed out.") for row in result.trace.rekeys]


def spoil_reason(result: ScenarioResult) -> None:
    result.trace.decisions[0] = replace(result.trace.decisions[0], reason="")


def spoil_attack(result: ScenarioResult) -> None:
    result.refused = 10


def spoil_detector(result: ScenarioResult) -> None:
    result.trace.threat = [threat(row.t, row.t >= 22) for row in result.trace.threat]


def spoil_detectors_calm(result: ScenarioResult) -> None:
    result.trace.threat[5] = threat(5.0, True)


def spoil_end(result: ScenarioResult) -> None:
    result.exit_codes["vehicle"] = -9


SPOILERS: dict[Callable[[ScenarioResult], None], str] = {
    spoil_loss: "drone to ground",
    spoil_twice: "ground to drone",
    spoil_count: "ground to drone",
    spoil_flight: "flight",
    spoil_guard: "lighter suites",
    spoil_use: "lighter suites",
    spoil_upgrade: "upgrade",
    spoil_final: "upgrade",
    spoil_upgrade_in_flight: "upgrade",
    spoil_rekey: "switches",
    spoil_reason: "reasons",
    spoil_attack: "attack",
    spoil_detector: "detector",
    spoil_detectors_calm: "detector",
    spoil_end: "shutdown",
}


@pytest.mark.parametrize(("spoil", "check"), SPOILERS.items(), ids=lambda each: getattr(each, "__name__", each))
def test_each_flaw_fails_its_check(spoil: Callable[[ScenarioResult], None], check: str) -> None:
    result = flown("attack")
    spoil(result)
    assert check in failed(result) and not result.passed


def test_what_the_link_itself_lost_is_no_loss_and_one_more_is() -> None:
    result = flown("bad-link")
    assert result.passed and "700 lost, all by the simulated link itself" in str(result.checks())
    result.link_lost = (699, 80)
    assert "1 lost by the tunnel" in failed(result)["drone to ground"]
    result.link_lost = (701, 80)
    assert "drone to ground" in failed(result), "a link that lost more than is missing means that something is doubled"


def test_the_hot_flight_has_to_reach_the_lightest_suite() -> None:
    result = flown("hot")
    lighter = "cs-lighter"
    result.trace.decisions.append(
        replace(decision(50.0, "HOLD", "emergency", LIGHT, LIGHT), to_suite=lighter, to_rank=0)
    )
    assert "lightest" in failed(result)["lighter suites"]


def test_an_error_is_never_a_pass() -> None:
    result = flown("hot")
    result.error = "The tunnel did not come up."
    assert not result.passed


def test_a_flight_without_an_attack_has_no_alarm_and_a_detector_that_speaks() -> None:
    result = flown("hot")
    result.trace.threat[30] = threat(30.0, True)
    assert "an alarm" in failed(result)["detector"]
    result.trace.threat = []
    assert failed(result)["detector"] == "it said nothing"
