# SPDX-License-Identifier: Apache-2.0
"""The policy's conditions out of a decision's inputs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pqc_mav_dashboard.conditions import DEFAULTS, RUNNING, condition_table
from pqc_mav_dashboard.picture import Sense
from pqc_mav_policy.parameter_table import plain
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import Battery, DecisionInput
from pqc_mav_policy.telemetry.snapshot import dump


@pytest.fixture
def decision() -> Sense:
    battery = Battery(valid=True, age_s=0.5, voltage_v=13.5, cells=4)
    return Sense({"inputs": dump(replace(DecisionInput(), battery=battery), 100.0)}, 0.0)


def battery_row(table: dict[str, object] | None) -> dict[str, object]:
    assert table is not None
    rows = table["rows"]
    assert isinstance(rows, list)
    return next(row for row in rows if (row["guard"], row["what"]) == ("emergency", "battery"))


def test_with_default_limits(decision: Sense) -> None:
    table = condition_table(decision)
    assert table is not None and table["note"] == DEFAULTS
    row = battery_row(table)
    assert (row["value"], row["limit"], row["met"]) == ("13.5 V", "< 14 V", True)


def test_with_the_limits_of_the_running_policy(decision: Sense) -> None:
    values = plain(PolicyParameters(battery_emergency_v=13.0))
    table = condition_table(decision, {**values, "a_parameter_of_another_version": 1})
    assert table is not None and table["note"] == RUNNING and battery_row(table)["met"] is False


def test_limits_that_cannot_be_are_not_believed(decision: Sense) -> None:
    table = condition_table(decision, {"battery_emergency_v": "much"})
    assert table is not None and table["note"] == DEFAULTS


def test_another_version_says_so() -> None:
    assert condition_table(None) is None
    early = ({"inputs_json": text} for text in ("", "{}", "[", '{"humidity": 1}'))
    for fields in ({}, {"inputs": []}, {"inputs": [{"key": "humidity", "value": "1"}]}, *early):
        table = condition_table(Sense(fields, 0.0))
        assert table is not None and "another version" in table["absent"]
