# SPDX-License-Identifier: Apache-2.0
"""The policy's conditions out of a decision's inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pqc_mav_dashboard.conditions import DEFAULTS, RUNNING, condition_table
from pqc_mav_dashboard.picture import Sense
from pqc_mav_policy.telemetry.inputs import Battery, DecisionInput
from pqc_mav_policy.telemetry.snapshot import dump


def decided(parameters: dict[str, Any] | None) -> Sense:
    battery = Battery(valid=True, age_s=0.5, voltage_v=13.5, cells=4)
    return Sense({"inputs": dump(replace(DecisionInput(), battery=battery), 100.0, (), parameters)}, 0.0)


def battery_row(table: dict[str, object] | None) -> dict[str, object]:
    assert table is not None
    rows = table["rows"]
    assert isinstance(rows, list)
    return next(row for row in rows if (row["guard"], row["what"]) == ("emergency", "battery"))


@pytest.mark.parametrize(("parameters", "note"), [(None, DEFAULTS), ({}, RUNNING)])
def test_with_default_limits(parameters: dict[str, Any] | None, note: str) -> None:
    table = condition_table(decided(parameters))
    assert table is not None and table["note"] == note
    row = battery_row(table)
    assert (row["value"], row["limit"], row["met"]) == ("13.5 V", "< 14 V", True)


def test_with_the_limits_of_the_running_policy() -> None:
    table = condition_table(decided({"battery_emergency_v": 13.0, "a_parameter_of_another_version": 1}))
    assert table is not None and table["note"] == RUNNING and battery_row(table)["met"] is False


def test_limits_that_cannot_be_are_not_believed() -> None:
    table = condition_table(decided({"battery_emergency_v": "much"}))
    assert table is not None and "another version" in table["absent"]


def test_another_version_says_so() -> None:
    assert condition_table(None) is None
    early = ({"inputs_json": text} for text in ("", "{}", "[", '{"humidity": 1}'))
    for fields in ({}, {"inputs": []}, {"inputs": [{"key": "humidity", "value": "1"}]}, *early):
        table = condition_table(Sense(fields, 0.0))
        assert table is not None and "another version" in table["absent"]
