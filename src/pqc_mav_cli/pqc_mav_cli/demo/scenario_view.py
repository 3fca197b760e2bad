# SPDX-License-Identifier: Apache-2.0
"""How a scenario looks: one line a second while it flies, decisions as they are made, and its summary. Pure."""

import math
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pqc_mav_cli.demo.scenario_result import ScenarioResult
from pqc_mav_cli.demo.view import verdict
from pqc_mav_cli.wording import short_code


def progress_line(elapsed_s: float, duration_s: float, phase: str, heard: dict[str, Any]) -> str:
    """The state on one line; `heard` are the newest messages by name, None where none has come."""
    parts = [f"{elapsed_s:5.1f} of {duration_s:g} s", f"{phase:<18}"]
    status, thermal, battery, link = (heard.get(name) for name in ("status", "thermal", "battery", "link"))
    parts.append(short_code(status.suite) if status and status.suite else "no session")
    if thermal is not None:
        parts.append(_figure(thermal.temperature_c, ".1f", "C"))
    if battery is not None:
        parts.append(_figure(battery.voltage_v, ".2f", "V"))
    if link is not None:
        parts.append(f"loss {_figure(100 * link.loss, '.1f', '%')}")
    decision = heard.get("decision")
    if decision is not None:
        parts.append(f"[{decision.guard}] {decision.reason}")
    return "  ".join(parts)


def _figure(value: float, form: str, unit: str) -> str:
    return "-" if math.isnan(value) else f"{value:{form}} {unit}"


def summary(result: ScenarioResult) -> RenderableType:
    """Decisions to change, what was done to the vehicle, and the verdict."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title=result.scenario.title)
    for name in ("time", "what", "rule", "reason, or what was simulated"):
        table.add_column(name, no_wrap=name in ("time", "what"))
    rows = [(t, Text("simulated", "dim"), "", Text(text, "dim")) for t, text in result.trace.events]
    for alarm in result.trace.alarms:
        response = f" -> {alarm.response}" if alarm.response else ""
        rows.append(
            (alarm.t, Text("DETECTED" if alarm.kind else "calm", "bold"), alarm.kind, Text(alarm.reason + response))
        )
    for row in result.trace.requests:
        rows.append((row.t, Text(row.action, "bold"), row.guard, Text(f"{row.reason} -> {short_code(row.to_suite)}")))
    for time_s, what, rule, why in sorted(rows, key=lambda each: each[0]):
        table.add_row(f"{time_s:.1f} s", what, rule, why)
    proved = "the drone adapted, lost nothing by it, and gave its reasons"
    plot = [Text(f"\nplot: {result.plot}")] if result.plot else []
    checks, *rest = verdict(result.checks(), result.error, result.passed, proved)
    return Group(table, checks, *plot, *rest)
