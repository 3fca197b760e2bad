# SPDX-License-Identifier: Apache-2.0
"""A sense that is missing takes its own rules out: each alone, several together, and all of them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from messages import message
from random_flights import snapshots
from scenes import CATALOGUE, CORE, GROUND, change, suite, well

from pqc_mav_common.diagnostics import Level
from pqc_mav_policy import senses
from pqc_mav_policy.controller import Controller, Tick
from pqc_mav_policy.diagnosis import diagnose
from pqc_mav_policy.parameters import STREAMS, PolicyParameters
from pqc_mav_policy.settings import STRATEGIES, Settings, make
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase
from pqc_mav_policy.telemetry.telemetry import Telemetry

P = PolicyParameters()
LIGHT = suite("ML-512-AG-FA-512")
# What makes each sense's rules decide something.
TROUBLE: dict[str, dict[str, Any]] = {
    "battery": {"battery": {"voltage_v": 13.0}},
    "thermal": {"thermal": {"temperature_c": 90.0}},
    "link": {"link": {"loss": 0.5}},
}
GONE = {"valid": False, "age_s": None}
SUBSETS = [names for count in range(1, len(STREAMS)) for names in combinations(STREAMS, count)]
every_strategy = pytest.mark.parametrize("strategy", list(STRATEGIES))


def after(strategy: str, inputs: DecisionInput, count: int = 8, **parameters: Any) -> Any:
    """The last of some decisions on the same snapshot."""
    made = make(strategy, CATALOGUE, Settings(policy=PolicyParameters(**parameters)))
    state = made.initial_state(0.0)
    decision = None
    for second in range(count):
        decision, state = made.decide(inputs, state, float(second))
    assert decision is not None
    return decision


def without(names: tuple[str, ...], **changes: Any) -> DecisionInput:
    return change(well(**changes), **{name: {**changes.get(name, {}), **GONE} for name in names})


@every_strategy
@pytest.mark.parametrize("names", SUBSETS, ids="+".join)
def test_the_remaining_rules_act(strategy: str, names: tuple[str, ...]) -> None:
    """Battery and processor emergencies above all."""
    for name in ("battery", "thermal"):
        decision = after(strategy, without(names, **TROUBLE[name]), 1)
        assert (decision.guard == "emergency") is (name not in names), decision
        assert decision.guard != "safety"


@pytest.mark.parametrize("names", SUBSETS, ids="+".join)
def test_a_bad_link_counts_only_where_the_link_is_sensed(names: tuple[str, ...]) -> None:
    hqc = suite("HQC-192-AG-MD-65")
    decision = after("cascade", change(without(names, **TROUBLE["link"]), session={"suite": hqc}))
    assert (decision.guard == "link") is ("link" not in names)


@every_strategy
@pytest.mark.parametrize("how", [GONE, {"age_s": 2.1}], ids=["missing", "late"])
def test_without_any_sense_nothing_changes(strategy: str, how: dict[str, Any]) -> None:
    blind = change(well(session={"key_age_s": 1e4}), **dict.fromkeys(STREAMS, how))
    decision = after(strategy, blind, 120)
    assert (decision.guard, decision.acts) == ("safety", False)


@pytest.mark.parametrize("name", STREAMS)
def test_a_sense_that_is_required_holds_everything_as_published(name: str) -> None:
    blind = without((name,), session={"key_age_s": 1e4})
    assert after("cascade", blind, 90, required=STREAMS).guard == "safety"
    assert after("cascade", blind, 90).guard == "rekey"


def test_without_the_vehicle_it_may_be_flying_so_nothing_climbs() -> None:
    ground = well(LIGHT, vehicle=GROUND)
    assert after("cascade", ground, 40).guard == "upgrade"
    assert after("cascade", change(ground, vehicle=GONE), 40).guard == "nominal"


def test_losing_a_sense_ends_the_calm_and_never_having_had_it_does_not() -> None:
    cascade = make("cascade", CATALOGUE, Settings())

    def calm_until_rekey(first: DecisionInput, then: DecisionInput) -> int:
        state = cascade.initial_state(0.0)
        for second in range(300):
            decision, state = cascade.decide(first if second < 50 else then, state, float(second))
            if decision.acts:
                return second
        return -1

    whole = well(session={"key_age_s": 1e4})
    part = change(whole, thermal=GONE)
    assert calm_until_rekey(whole, whole) == calm_until_rekey(part, part) == 61
    assert calm_until_rekey(whole, part) == 111


def test_a_voltage_without_a_number_of_cells_is_not_judged() -> None:
    unknown = well(battery={"voltage_v": 12.6, "rate_mv_per_min": -900.0, "cells": 0})
    assert after("cascade", unknown).guard == "nominal"
    assert senses.lacking(senses.usable(unknown, P)) == (
        "battery: its number of cells is unknown, so its voltage is not judged",
    )
    assert senses.out(unknown, P) == {}


class Drone:
    """A controller that hears what it is given, once a second."""

    def __init__(self) -> None:
        self.telemetry = Telemetry(P.near_switch_s, 10.0)
        cascade = make("cascade", CATALOGUE, Settings())
        self.controller = Controller(cascade, CATALOGUE, P, self.telemetry, 0.0)
        self.controller.allow(CORE, LIGHT)
        self.telemetry.on_status(message("status", key_age_s=5.0), 0.0)
        self.now = 0.0

    def second(self, *silent: str, **changes: dict[str, Any]) -> Tick:
        self.now += 1.0
        for stream in ("battery", "thermal", "vehicle"):
            if stream not in silent:
                self.telemetry.on(stream, message(stream, **changes.get(stream, {})), self.now)
        if "link" not in silent:
            self.telemetry.on_link(message("link"), self.now)
        return self.controller.tick(self.now)


@pytest.mark.parametrize("names", SUBSETS, ids="+".join)
def test_every_decision_and_the_diagnostics_name_what_is_missing(names: tuple[str, ...]) -> None:
    drone = Drone()
    for _ in range(3):
        tick = drone.second(*names)
        report = diagnose(tick, drone.controller, "")
        assert report.level is Level.WARN
        for name in names:
            assert f"{name}: nothing has been heard yet" in tick.decision.reason
            assert f"{name}: nothing has been heard yet" in report.message
            assert name in str(report.values["rules out of use"])
        assert tick.decision.reason.endswith(".")


def test_the_reason_is_the_sensors_own() -> None:
    drone = Drone()
    tick = drone.second(thermal={"valid": False, "reason": "There is no thermal zone here."})
    assert tick.decision.reason.endswith("Rules out of use: thermal: There is no thermal zone here.")
    for _ in range(3):
        tick = drone.second("battery")
    assert "battery: 3.0 s old, limit 2 s" in tick.decision.reason
    whole = drone.second()
    assert whole.lacking == ()
    assert diagnose(whole, drone.controller, "").level is Level.OK


def test_a_battery_emergency_is_asked_for_on_a_machine_without_thermal_zone() -> None:
    drone = Drone()
    low = {"voltage_v": 13.0}
    tick = drone.second(battery=low, thermal={"valid": False, "reason": "There is no thermal zone here."})
    assert tick.request is not None
    assert tick.request.suite == LIGHT
    assert "thermal: There is no thermal zone here" in tick.request.reason


@pytest.mark.parametrize(
    ("cells", "full", "empty"),
    [(2, 8.4, 6.9), (3, 12.6, 10.4), (4, 16.8, 13.9), (6, 25.2, 20.9), (12, 50.4, 41.9)],
)
def test_thresholds_are_per_cell(cells: int, full: float, empty: float) -> None:
    """A full pack of three cells is no emergency; one of six triggers at the same 3.5 V a cell."""
    pack = well(vehicle={"phase": Phase.HOVER}, battery={"cells": cells, "voltage_v": full})
    assert after("cascade", pack).guard == "nominal"
    low = change(pack, battery={"voltage_v": empty})
    decision = after("cascade", low, 1)
    assert decision.guard == "emergency"
    assert f"below {3.5 * cells:g} V" in decision.reason
    falling = change(pack, battery={"rate_mv_per_min": -126.0 * cells})
    assert after("cascade", falling).guard == "stress"
    assert after("cascade", change(pack, battery={"rate_mv_per_min": -124.0 * cells})).guard == "nominal"
    assert after("expert", change(pack, battery={"voltage_v": 3.69 * cells})).guard == "battery-low"
    assert after("expert", change(pack, battery={"voltage_v": 3.71 * cells})).guard == "clear"


@settings(max_examples=100, deadline=None)
@given(snapshots())
def test_a_usable_snapshot_is_usable_and_tells_the_same(raw: DecisionInput) -> None:
    """So it does not matter who judged the ages: the controller, a strategy, or a replay of what was published."""
    seen = senses.usable(raw, P)
    assert senses.usable(seen, P) == seen
    assert senses.gone(seen) == {name: senses.out(raw, P)[name] for name in STREAMS if name in senses.out(raw, P)}
