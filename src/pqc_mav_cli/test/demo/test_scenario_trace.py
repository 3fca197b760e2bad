# SPDX-License-Identifier: Apache-2.0
import json
import math

from scenario_flights import HEAVY, LIGHT, MIDDLE, flown

from pqc_mav_cli.demo.scenario_trace import RefusedMeter


def test_requests_and_tiers() -> None:
    trace = flown("hot").trace
    assert [row.action for row in trace.requests] == ["DOWN", "DOWN_0", "UPGRADE"]
    assert {row.to_suite: row.to_rank for row in trace.requests} == {MIDDLE: 12, LIGHT: 3, HEAVY: 81}


def test_json_has_no_nan() -> None:
    text = json.dumps(flown("hot").trace.as_json())
    assert "NaN" not in text and json.loads(text)["thermal"][40]["celsius"] is None


def test_how_many_a_second_are_refused() -> None:
    meter = RefusedMeter()
    assert meter.update(0.0, 1000) == 0.0, "the first reading has nothing to count from"
    assert math.isclose(meter.update(2.0, 1100), 50.0)
    assert meter.update(3.0, 0) == 0.0, "a proxy that was started anew counts from zero"
    assert meter.update(3.0, 5000) == 0.0


def test_alarms_are_the_changes_of_what_the_detector_says() -> None:
    alarms = flown("attack").trace.alarms
    assert [(row.t, row.kind) for row in alarms] == [(18, "forgery"), (45, "")]
    assert flown("hot").trace.alarms == []
