# SPDX-License-Identifier: Apache-2.0
"""A campaign's measurements become the table the expert strategy reads."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from pqc_mav_bench import performance_table, tidy
from pqc_mav_bench.errors import StoreError
from pqc_mav_policy.strategies.expert.performance import load


def run(suite: str, repetition: int, **values: object) -> dict[str, object]:
    empty: dict[str, object] = {column: float("nan") for column in tidy.columns()}
    texts = {field.path: "" for field in tidy.flat_fields() if not field.numeric}
    key = {"scenario": "baseline", "suite": suite, "repetition": repetition, "status": tidy.PASSED}
    return empty | texts | key | {name.replace("__", "."): value for name, value in values.items()}


def table(*rows: dict[str, object]) -> pd.DataFrame:
    return tidy.frame(rows)


def test_medians_of_the_runs_that_passed() -> None:
    rows = performance_table.performance_rows(
        table(
            run("cs-a", 1, handshake__handshake_ms=4.0, data_plane__loss_ratio=0.0),
            run("cs-a", 2, handshake__handshake_ms=8.0, data_plane__loss_ratio=0.5),
            run("cs-a", 3, handshake__handshake_ms=900.0, status=tidy.FAILED),
            run("cs-a", 1, handshake__handshake_ms=700.0, scenario="tst"),
        ),
        "here",
    )
    (row,) = rows
    assert (row.suite, row.handshake_ms, row.loss, row.source, row.simulated) == ("cs-a", 6.0, 0.25, "here", False)


def test_power_counts_only_where_a_sensor_measured_it() -> None:
    modelled, measured = performance_table.performance_rows(
        table(
            run("cs-a", 1, handshake__handshake_ms=10.0, power_energy__power_mean_w=3.0, power_energy__measured=0.0),
            run("cs-b", 1, handshake__handshake_ms=10.0, power_energy__power_mean_w=4.0, power_energy__measured=1.0),
        ),
        "here",
    )
    assert (modelled.power_w, modelled.energy_j) == (None, None)
    assert (measured.power_w, measured.energy_j) == (4.0, 0.04)


def test_the_policy_reads_what_is_written(tmp_path: Path) -> None:
    tidy.write(table(run("cs-a", 1, handshake__handshake_ms=4.0, data_plane__loss_ratio=0.0)), tmp_path)
    output = tmp_path / "performance.csv"
    assert performance_table.write(tmp_path, output) == 1
    assert load(output)["cs-a"].handshake_ms == 4.0


def test_a_campaign_without_a_passed_run_is_refused(tmp_path: Path) -> None:
    tidy.write(table(run("cs-a", 1, status=tidy.FAILED)), tmp_path)
    with pytest.raises(StoreError, match="nothing to look up"):
        performance_table.write(tmp_path, tmp_path / "performance.csv")
    assert not (tmp_path / "performance.csv").exists()
