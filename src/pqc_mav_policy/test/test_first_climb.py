# SPDX-License-Identifier: Apache-2.0
"""What a plain start flies before and after the policy's first climb: the shipped configuration, a simulated clock, and
what the pages say of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from messages import message
from scenes import CATALOGUE, CORE

from pqc_mav_common import config_file
from pqc_mav_policy.controller import Controller
from pqc_mav_policy.node_parameters import NodeParameters
from pqc_mav_policy.ros_parameters import NodeConfig, parse
from pqc_mav_policy.settings import STRATEGIES, make
from pqc_mav_policy.telemetry.telemetry import Telemetry

ROOT = Path(__file__).resolve().parents[3]
STANDARDS = ("ML-768-AG-MD-65", "ML-1024-AG-MD-87")
MINUTES = 20


def shipped(file: str, node: str) -> dict[str, Any]:
    """What a shipped configuration gives a node."""
    return config_file.parameters(config_file.load(ROOT / "config" / f"{file}.yaml"), "/drone", node)


class Flight:
    """The shipped policy beside a proxy that does what it is asked, once a second; all is well unless changed."""

    def __init__(self, **changes: Any) -> None:
        self.config: NodeConfig = parse({**shipped("policy", "pqc_policy"), **changes})
        policy = self.config.settings.policy
        self.telemetry = Telemetry(policy.near_switch_s, self.config.node.threat_timeout_s)
        strategy = make(self.config.node.strategy, CATALOGUE, self.config.settings)
        self.controller = Controller(strategy, CATALOGUE, policy, self.telemetry, 0.0)
        found = CATALOGUE.find(shipped("drone", "pqc_proxy")["suite"])
        assert found is not None
        self.suite, self.epoch, self.now = found.id, 0, 0.0
        self.controller.allow(CORE, found.id)
        self.flown = [found.short_code]
        self.pin: dict[str, Any] = {}

    def status(self, **changes: Any) -> None:
        self.telemetry.on_status(message("status", suite=self.suite, epoch=self.epoch, **self.pin, **changes), self.now)

    def fly(self, seconds: int, **changes: dict[str, Any]) -> None:
        for _ in range(seconds):
            if self.now == 0:
                self.status(key_age_s=0.0)
            self.now += 1.0
            for stream in ("battery", "thermal", "vehicle", "system"):
                self.telemetry.on(stream, message(stream, **changes.get(stream, {})), self.now)
            self.telemetry.on_link(message("link", **changes.get("link", {})), self.now)
            request = self.controller.tick(self.now).request
            if request is None:
                continue
            self.suite, self.epoch = request.suite or self.suite, self.epoch + 1
            self.telemetry.on_rekeyed(self.suite, self.epoch, self.now)
            self.controller.answered(True, "Rekeyed.", self.now)
            if self.flown[-1] != CATALOGUE[self.suite].short_code:
                self.flown.append(CATALOGUE[self.suite].short_code)


def test_the_shipped_configuration_climbs_to_the_standard_that_the_pages_name() -> None:
    flight = Flight()
    assert flight.config.node == NodeParameters(), "the shipped file has the defaults"
    flight.fly(29)
    assert flight.flown == list(STANDARDS[:1])
    flight.fly(60 * MINUTES)
    assert flight.flown == list(STANDARDS)
    page = (ROOT / "docs" / "choosing-a-suite.md").read_text()
    (plain,) = re.findall(r"\*\*A plain start\*\* flies `(\S+)`.*?climbs to `(\S+)`", page, re.DOTALL)
    assert plain == STANDARDS
    assert re.search(rf"^\| `{STANDARDS[0]}` \(default\)", page, re.MULTILINE)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_strategy_chooses_a_draft(strategy: str) -> None:
    """Through calm on the ground and in the air, a bad link, heat, a low battery, and calm again."""
    bad = {"link": {"loss": 0.2, "gap_p95_ms": 1500.0}}
    ground = {"vehicle": {"armed": False, "phase": 1}}
    phases: list[dict[str, dict[str, Any]]] = [
        ground, {}, bad, {"thermal": {"temperature_c": 85.0}}, {},
        {"battery": {"voltage_v": 13.5}}, {"thermal": {"rate_c_per_min": 6.0}}, ground,
    ]  # fmt: skip
    flight = Flight(strategy=strategy, target_suite="max")
    for changes in phases:
        flight.fly(180, **changes)
    flown = [CATALOGUE.find(code) for code in flight.flown]
    assert all(suite is not None and suite.standard for suite in flown), flight.flown


def test_with_drafts_allowed_the_cheapest_of_the_level_is_a_draft() -> None:
    flight = Flight(allow_drafts=True)
    flight.fly(60)
    assert flight.flown[-1] == "ML-1024-AG-FA-1024"


def test_a_draft_in_the_configuration_stays_without_being_allowed() -> None:
    flight = Flight(minimum_level=5)
    draft = CATALOGUE.find("HQC-256-AG-MD-87")
    assert draft is not None
    flight.suite = draft.id
    flight.controller.allow([draft.id], draft.id)
    flight.flown = [draft.short_code]
    flight.fly(60 * MINUTES)
    assert flight.flown == [draft.short_code] and flight.epoch > 0, "its keys are renewed"


@pytest.mark.parametrize("trouble", [{}, {"thermal": {"temperature_c": 85.0}}, {"battery": {"voltage_v": 13.0}}])
def test_what_an_operator_asked_for_stays_as_long_as_it_is_pinned(trouble: dict[str, dict[str, Any]]) -> None:
    flight = Flight()
    flight.fly(60)
    draft = CATALOGUE.find("HQC-256-AG-MD-87")
    assert draft is not None
    flight.suite, flight.epoch = draft.id, flight.epoch + 1
    flight.pin = {"pinned_suite": draft.id, "pin_for_s": 600.0}
    flight.status(key_age_s=0.0)
    flight.flown = [draft.short_code]
    flight.fly(590, **trouble)
    assert flight.flown == [draft.short_code]
    tick = flight.controller.tick(flight.now)
    assert tick.decision.guard in ("pinned", "rekey", "cooldown"), tick.decision
    flight.fly(300)
    assert flight.flown[-1] == STANDARDS[1], "then the policy chooses again"


def test_the_policy_returns_to_what_is_pinned() -> None:
    """As after a session was lost and began anew with another suite."""
    flight = Flight()
    flight.pin = {"pinned_suite": CATALOGUE.find("ML-512-AG-MD-44").id, "pin_for_s": 600.0}  # type: ignore[union-attr]
    flight.fly(30)
    assert flight.flown == [STANDARDS[0]], "below the lowest level it is not chosen"
    flight.pin = {"pinned_suite": CATALOGUE.find("ML-1024-CP-MD-87").id, "pin_for_s": 600.0}  # type: ignore[union-attr]
    flight.status(key_age_s=30.0)
    flight.fly(30)
    assert flight.flown[-1] == "ML-1024-CP-MD-87"
