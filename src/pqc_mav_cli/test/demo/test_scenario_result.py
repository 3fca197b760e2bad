# SPDX-License-Identifier: Apache-2.0
"""Every check of the verdict can fail, and says what was wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from scenario_flights import BEST, LIGHT, decision, direction, flown, threat, without

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


def spoil_kept(result: ScenarioResult) -> None:
    result.trace.status.append(replace(result.trace.status[-1], suite=LIGHT))


def spoil_asked(result: ScenarioResult) -> None:
    result.trace.threat = [replace(row, response="light_handshakes") for row in result.trace.threat]


def spoil_acted(result: ScenarioResult) -> None:
    result.trace.decisions = [replace(row, guard="renew") for row in result.trace.decisions]


def spoil_once(result: ScenarioResult) -> None:
    result.trace.decisions.append(decision(33.0, "REKEY", "alarm", BEST, BEST))


def spoil_soon(result: ScenarioResult) -> None:
    result.trace.rekeys = [replace(row, t=row.t + 15.0) for row in result.trace.rekeys]


def spoil_cause(result: ScenarioResult) -> None:
    result.trace.decisions = [replace(row, t=row.t + 5.0) for row in result.trace.decisions]


def spoil_end(result: ScenarioResult) -> None:
    result.exit_codes["vehicle"] = -9


SPOILERS: dict[Callable[[ScenarioResult], None], tuple[str, str]] = {
    spoil_loss: ("attack", "drone to ground"),
    spoil_twice: ("attack", "ground to drone"),
    spoil_count: ("attack", "ground to drone"),
    spoil_flight: ("attack", "flight"),
    spoil_guard: ("hot", "lighter suites"),
    spoil_use: ("hot", "lighter suites"),
    spoil_upgrade: ("hot", "upgrade"),
    spoil_final: ("hot", "upgrade"),
    spoil_upgrade_in_flight: ("hot", "upgrade"),
    spoil_rekey: ("attack", "switches"),
    spoil_reason: ("attack", "reasons"),
    spoil_attack: ("attack", "attack"),
    spoil_detector: ("attack", "detector"),
    spoil_detectors_calm: ("attack", "detector"),
    spoil_kept: ("attack", "suite"),
    spoil_asked: ("attack", "response"),
    spoil_acted: ("attack", "response"),
    spoil_once: ("attack", "response"),
    spoil_soon: ("attack", "response"),
    spoil_cause: ("attack", "response"),
    spoil_end: ("attack", "shutdown"),
}


@pytest.mark.parametrize(
    ("spoil", "where"), SPOILERS.items(), ids=lambda each: each[-1] if isinstance(each, tuple) else each.__name__
)
def test_each_flaw_fails_its_check(spoil: Callable[[ScenarioResult], None], where: tuple[str, str]) -> None:
    name, check = where
    result = flown(name)
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


def test_the_attack_is_answered_by_fresh_keys_of_the_same_suite() -> None:
    texts = {check.name: check.text for check in flown("attack").checks()}
    assert texts["response"] == (
        "renew_keys: fresh keys 2.1 s after forgery was named, once (epoch 1, handshake 12 ms)"
    )
    assert texts["suite"].startswith("ML-1024-AG-FA-1024 throughout") and "upgrade" not in texts


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
