# SPDX-License-Identifier: Apache-2.0
import math
from types import SimpleNamespace

from scenario_flights import HEAVY, LIGHT, MIDDLE, flown

from pqc_mav_cli.demo.scenario_trace import LinkRow, RefusedMeter, row_json, row_of


def test_requests_and_tiers() -> None:
    trace = flown("hot").trace
    assert [row.action for row in trace.requests] == ["DOWN", "DOWN_0", "UPGRADE"]
    assert {row.to_suite: row.to_rank for row in trace.requests} == {MIDDLE: 12, LIGHT: 3, HEAVY: 81}


def test_json_has_no_nan() -> None:
    assert row_json(flown("hot").trace.thermal[40])["temperature_c"] is None


def test_a_row_has_the_fields_of_its_message() -> None:
    message = SimpleNamespace(loss=0.5, gap_p95_ms=7.0, age_s=0.1, packets_per_s=3.0)
    assert row_of(LinkRow, 2.0, message) == LinkRow(2.0, 0.5, 7.0, 0.1)


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
