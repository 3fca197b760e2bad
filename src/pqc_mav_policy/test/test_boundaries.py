# SPDX-License-Identifier: Apache-2.0
"""Each threshold at its published value: just within, on and just beyond it; and each of them matters."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from boundaries import BOUNDARIES, Boundary, play

from pqc_mav_policy.parameter_table import plain, schema
from pqc_mav_policy.parameters import PolicyParameters

DEFAULTS = PolicyParameters()
PUBLISHED = Path(__file__).parent / "published" / "rpi5_policy_parameters.csv"
# Numbers that are not the cascade's: they shape the snapshot (test_telemetry), say when load is shed (test_shedding),
# when the operator is told of loss (test_loss_alert) or which kind of renewal is asked for (test_renewal).
ELSEWHERE = {
    *("near_switch_s", "shed_kbit", "shed_queue_ms", "shed_cpu_percent"),
    *("alert_loss", "alert_after_s", "ratchet_above_bytes"),
}


def label(boundary: Boundary) -> str:
    return f"{boundary.parameter}-{boundary.beyond[1]}"


@pytest.mark.parametrize("boundary", BOUNDARIES, ids=label)
def test_every_side_of_every_threshold(boundary: Boundary) -> None:
    for x, answer in boundary.points().items():
        assert play(boundary.frames(x), DEFAULTS) == answer, f"at {x}"


# A parameter of 0 cannot be lowered.
MOVES = [(boundary, up) for boundary in BOUNDARIES for up in (True, False) if up or boundary.value != 0]


@pytest.mark.parametrize(("boundary", "up"), MOVES)
def test_moving_a_threshold_breaks_its_case(boundary: Boundary, up: bool) -> None:
    value = getattr(DEFAULTS, boundary.parameter)
    by = max(1, abs(value) * 0.05) if isinstance(value, int) else abs(value) * 0.05 or 1.0
    moved = value + (by if up else -by)
    assert not boundary.holds(replace(DEFAULTS, **{boundary.parameter: type(value)(moved)}))


def test_every_number_of_the_parameters_has_a_case() -> None:
    numbers = {
        name
        for name, value in plain(DEFAULTS).items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    assert numbers - ELSEWHERE - {"minimum_level"} == {boundary.parameter for boundary in BOUNDARIES}


def test_defaults_are_the_published_values() -> None:
    with PUBLISHED.open(encoding="utf-8") as file:
        published = {row["parameter"]: float(row["value"]) for row in csv.DictReader(file)}
    linked = {entry["key"]: entry["published"] for entry in schema(PolicyParameters) if entry["published"] in published}
    assert {name: getattr(DEFAULTS, name) for name in linked} == {name: published[row] for name, row in linked.items()}
    cascade = {
        "telemetry_stale_limit",
        "emergency_battery",
        "emergency_temperature",
        "rollback_blackouts",
        "cooldown_after_switch",
        "link_gap_p95_limit",
        "stress_temp_rate",
        "stress_voltage_rate",
        "rekey_stable_time",
        "hysteresis_tau_down",
        "hysteresis_tau_up",
        "rekey_rate_limit_count",
        "rekey_rate_limit_window",
        "blacklist_ttl",
        "rekey_interval_mlkem",
        "rekey_interval_hqc_min",
    }
    assert cascade <= set(linked.values())
