# SPDX-License-Identifier: Apache-2.0
"""The tables of `pqcmav bench show`."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

tidy = pytest.importorskip("pqc_mav_bench.tidy", reason="pqc_mav_bench is not installed")

from pqc_mav_bench.schema.run import RunMetrics  # noqa: E402
from pqc_mav_cli.bench.view import runs_table  # noqa: E402


def shown(*power: tuple[float | None, bool | None]) -> str:
    """The table of runs with this mean power [W], each measured or not."""
    rows = []
    for number, (watts, measured) in enumerate(power):
        run = RunMetrics()
        run.run_context.suite_id, run.run_context.scenario = f"cs-{number}", "baseline"
        run.run_context.repetition, run.handshake.handshake_ms = 1, 10.0 + number
        run.lifecycle.success = True
        run.power_energy.power_mean_w, run.power_energy.measured = watts, measured
        rows.append(tidy.row(run, f"{number}.json"))
    text = io.StringIO()
    Console(file=text, width=100).print(runs_table(tidy.frame(rows)))
    return text.getvalue()


def test_power_that_no_sensor_measured_is_called_modelled() -> None:
    modelled = shown((4.25, False), (4.5, False))
    assert "modelled power W" in modelled
    assert "4.25" in modelled


def test_measured_power_has_no_such_mark_unless_a_run_has_none() -> None:
    measured = shown((4.25, True), (4.5, True))
    assert "power W" in measured and "modelled" not in measured
    assert "modelled power W" in shown((4.25, True), (4.5, False))
    assert "modelled power W" in shown((4.25, True), (4.5, None)), "nobody said that it was measured"


def test_without_a_figure_there_is_no_column_for_it() -> None:
    assert "power" not in shown((None, None))
