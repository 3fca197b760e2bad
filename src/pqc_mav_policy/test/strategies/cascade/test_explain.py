# SPDX-License-Identifier: Apache-2.0
"""Conditions laid open agree with what the rules see."""

from __future__ import annotations

import pytest
from scenes import GROUND, change, well

from pqc_mav_policy import senses
from pqc_mav_policy.parameters import STREAMS, PolicyParameters
from pqc_mav_policy.strategies.cascade import signs
from pqc_mav_policy.strategies.cascade.explain import conditions
from pqc_mav_policy.telemetry.inputs import DecisionInput, Threat

PARAMETERS = PolicyParameters()


def met(inputs: DecisionInput) -> set[tuple[str, str]]:
    return {(each.guard, each.what) for each in conditions(inputs, PARAMETERS, 100.0) if each.met}


def test_nothing_is_met_while_all_is_well() -> None:
    assert met(well()) == set()
    assert met(well(vehicle=GROUND)) == {("upgrade", "disarmed")}


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (well(**{key: {"valid": False} for key in STREAMS}), ("safety", "telemetry")),
        (well(battery={"voltage_v": 13.9}), ("emergency", "battery")),
        (well(thermal={"temperature_c": 80.5}), ("emergency", "processor")),
        (well(link={"blackouts_near_switch": 4}), ("blackout", "blackouts near a switch")),
        (well(switched=98.0), ("cooldown", "time since the switch")),
        (well(link={"gap_p95_s": 1.1}), ("link", "95 % of the gaps")),
        (well(link={"loss": 0.2}), ("link", "loss")),
        (well(thermal={"rate_c_per_min": 6.0}), ("stress", "temperature's rate")),
        (well(battery={"rate_mv_per_min": -600.0}), ("stress", "voltage's rate")),
        (well(thermal={"throttled": True}), ("stress", "throttled")),
        (well(threat=Threat.ATTACK), ("stress", "threat")),
    ],
)
def test_each_condition_is_met_by_what_the_rules_see(inputs: DecisionInput, expected: tuple[str, str]) -> None:
    assert met(inputs) == {expected}
    sign = {
        "safety": senses.blind,
        "emergency": signs.emergency,
        "blackout": signs.blackouts,
        "link": signs.bad_link,
        "stress": signs.stress,
    }.get(expected[0])
    assert sign is None or sign(inputs, PARAMETERS)


def test_unknown_figures_are_neither_met_nor_not() -> None:
    blind = change(well(), battery={"valid": False}, link={"valid": False}, thermal={"temperature_c": None})
    found = {each.what: each for each in conditions(blind, PARAMETERS, 100.0)}
    for what in ("battery", "processor", "loss", "voltage's rate", "blackouts near a switch"):
        assert (found[what].met, found[what].value) == (None, "unknown")
    assert found["temperature's rate"].value == "0.1 C/min"
    assert found["battery"].limit == "< 14 V"
