# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pandas as pd
import pytest

from pqc_mav_bench import tidy
from pqc_mav_bench.schema.run import RunMetrics


def run_of(suite: str, repetition: int = 1, **handshake: object) -> RunMetrics:
    run = RunMetrics(handshake=handshake)
    context = run.run_context
    context.scenario, context.suite_id, context.repetition = "baseline", suite, repetition
    run.lifecycle.success = True
    return run


def table() -> pd.DataFrame:
    rows = [
        tidy.row(run_of("b", handshake_ms=2.0, ok=True, error=None), "runs/baseline/b/metrics.json"),
        tidy.row(run_of("a", 2, handshake_ms=None, timeout=True), "runs/baseline/a/repetition-02/metrics.json"),
        tidy.row(run_of("a", handshake_ms=1.5, error="none"), "runs/baseline/a/metrics.json"),
    ]
    return tidy.frame(rows)


def test_there_is_one_row_per_run_sorted_by_key_with_every_column():
    made = table()
    assert list(made.columns) == tidy.columns()
    assert made[list(tidy.KEY)].to_numpy().tolist() == [
        ["baseline", "a", 1],
        ["baseline", "a", 2],
        ["baseline", "b", 1],
    ]
    assert made["handshake.handshake_ms"].tolist()[::2] == [1.5, 2.0]
    assert math.isnan(made["handshake.handshake_ms"][1])
    assert made["handshake.timeout"][1] == 1.0
    assert made["handshake.error"].tolist() == ["none", "", ""]
    assert set(made["status"]) == {tidy.PASSED}


def test_a_failed_run_is_a_row_too():
    run = run_of("a")
    run.lifecycle.success = False
    assert tidy.row(run, "x")["status"] == tidy.FAILED


@pytest.mark.parametrize("name", ["tidy.csv", "tidy.parquet", ""])
def test_both_files_give_the_same_table_back(tmp_path, name):
    if name.endswith("parquet") and not tidy.has_parquet():
        pytest.skip("pandas has no engine for Parquet here")
    made = table()
    tidy.write(made, tmp_path)
    back = tidy.read(tmp_path / name if name else tmp_path)
    pd.testing.assert_frame_equal(back, made, check_dtype=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tidy.csv", "tidy.parquet"][: 1 + tidy.has_parquet()]


def test_an_empty_campaign_is_a_table_with_columns(tmp_path):
    tidy.write(tidy.frame([]), tmp_path)
    assert list(tidy.read(tmp_path / "tidy.csv").columns) == tidy.columns()


def test_another_table_is_refused(tmp_path):
    (tmp_path / "other.csv").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match="no tidy table"):
        tidy.read(tmp_path / "other.csv")
