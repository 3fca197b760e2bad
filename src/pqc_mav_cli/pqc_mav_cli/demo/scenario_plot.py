# SPDX-License-Identifier: Apache-2.0
"""The picture of a scenario: suite, temperature, battery, link and flight over time, with every decision to change."""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any

from pqc_mav_cli.demo.picture import picture
from pqc_mav_cli.demo.scenario_result import ScenarioResult
from pqc_mav_cli.demo.scenario_trace import DecisionRow
from pqc_mav_cli.wording import short_code

EMERGENCY_C, EMERGENCY_V, LOSS_LIMIT = 80.0, 14.0, 10.0  # the policy's defaults, drawn as limits
STALE_S = 2.0  # a report about the link that is older says nothing
PHASES = {1: "disarmed", 2: "take-off", 3: "cruise", 4: "hover", 5: "landing"}
COLOURS = {"DOWN": "#d55e00", "DOWN_0": "#b2182b", "UPGRADE": "#1b7837", "REKEY": "#4575b4", "ROLLBACK": "#7b3294"}
PHASE_SHADES = {1: "#ffffff", 2: "#fdf3d8", 3: "#e8f1fa", 4: "#e5f3e8", 5: "#f7e6f0"}
MOST_REASONS = 12
REASON_WIDTH = 150
LINE_IN = 0.17  # height of a line of the legend
_BOX = {"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.75}


def draw(result: ScenarioResult, path: Path) -> None:
    """Writes the picture as PNG; the file appears when it is complete. Raises CliError."""
    requests = result.trace.requests
    reasons = _reasons(requests[:MOST_REASONS], len(requests))
    height = 10.2 + LINE_IN * len(reasons)
    ratios = {"height_ratios": [1.7, 1, 1, 1, 0.9]}
    with picture(path, 5, 1, figsize=(13, height), sharex=True, gridspec_kw=ratios) as (figure, axes):
        _suites(axes[0], result)
        _temperature(axes[1], result)
        _battery(axes[2], result)
        _link(axes[3], result)
        _flight(axes[4], result)
        for axis in axes:
            _shade(axis, result)
            _marks(axis, requests, numbered=axis is axes[0])
            axis.grid(True, axis="both", color="#dddddd", linewidth=0.6)
            axis.set_axisbelow(True)
        axes[-1].set_xlim(0, _end_s(result))
        axes[-1].set_xlabel("time of flight [s]")
        verdict = "passed" if result.passed else "FAILED"
        figure.suptitle(
            f"Scenario '{result.scenario.name}': {result.scenario.title.lower()} - {verdict}\n"
            f"simulated: {_simulated(result)}; real: tunnel, sensing, policy, detector",
            fontsize=12,
        )
        bottom = (0.9 + LINE_IN * len(reasons)) / height
        figure.subplots_adjust(left=0.16, right=0.93, top=1.0 - 0.85 / height, bottom=bottom, hspace=0.12)
        figure.text(0.03, bottom - 0.62 / height, "\n".join(reasons), fontsize=8.2, va="top", family="monospace")


def _simulated(result: ScenarioResult) -> str:
    parts = ["vehicle", "board"]
    parts += ["air link"] if result.scenario.relayed else []
    parts += ["attacker"] if any(event.flood_hz for event in result.scenario.events) else []
    return ", ".join(parts)


def _reasons(rows: Sequence[DecisionRow], count: int) -> list[str]:
    """The legend below the picture: each decision's sentence, wrapped."""
    lines: list[str] = []
    for number, row in enumerate(rows, 1):
        head = f"{number:2d} {row.t:5.1f} s  {row.action:7} "
        lines += wrap(row.reason, REASON_WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
    return [*lines, f"   and {count - len(rows)} more"] if count > len(rows) else lines


def _suites(axis: Any, result: ScenarioResult) -> None:
    trace = result.trace
    ranks = {row.to_suite: row.to_rank for row in trace.decisions if row.to_suite}
    ladder = sorted(ranks, key=lambda suite: ranks[suite])
    rung = {suite: index for index, suite in enumerate(ladder)}
    points = [(row.t, rung[row.suite]) for row in trace.status if row.suite in rung]
    if points:
        times, rungs = zip(*points, (_end_s(result), points[-1][1]), strict=True)
        axis.step(times, rungs, where="post", color="#222222", linewidth=2.2)
    axis.set_yticks(range(len(ladder)), [f"{short_code(suite)}\n(rank {ranks[suite]})" for suite in ladder], fontsize=8)
    room = 0.95 if trace.events else 0.45  # for what was done to the vehicle, in two rows
    axis.set_ylim(-room, len(ladder) - 0.25)
    axis.set_ylabel("suite in use")
    for number, (time_s, text) in enumerate(trace.events):
        axis.annotate(
            text,
            (time_s, -0.45 if number % 2 else -0.85),
            fontsize=7.5,
            color="#555555",
            ha="left",
            va="bottom",
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "#bbbbbb", "lw": 0.5},
        )
    _holds(axis, result)
    for other in axis.figure.axes:
        for time_s, _ in trace.events:
            other.axvline(time_s, color="#999999", linewidth=0.9, linestyle=":")


def _holds(axis: Any, result: ScenarioResult) -> None:
    """A bar where the policy held because telemetry was missing or old."""
    rows = result.trace.decisions
    blind = [(before.t, after.t) for before, after in pairwise(rows) if before.guard == "safety"]
    for begin_s, end_s in blind:
        axis.axvspan(begin_s, end_s, ymin=0.0, ymax=0.025, color="#444444", linewidth=0)
    if blind:
        text = "dark bar: the policy holds while telemetry is missing"
        axis.text(0.995, 0.035, text, transform=axis.transAxes, ha="right", fontsize=7, color="#444444")


def _temperature(axis: Any, result: ScenarioResult) -> None:
    rows = result.trace.thermal
    axis.plot([row.t for row in rows], [row.temperature_c for row in rows], color="#b2182b", linewidth=1.8)
    _limit(axis, EMERGENCY_C, f"emergency above {EMERGENCY_C:g} °C", "#b2182b")
    for before, after in pairwise(rows):
        if before.throttled:
            axis.axvspan(before.t, after.t, ymin=0.0, ymax=0.06, color="#b2182b", alpha=0.7, linewidth=0)
    top = max((row.temperature_c for row in rows if not math.isnan(row.temperature_c)), default=EMERGENCY_C)
    axis.set_ylim(20, max(90.0, top + 5))
    sources = ", ".join(sorted({row.source for row in rows}))
    axis.set_ylabel(f"processor [°C]\nsource: {sources or 'none'}")
    if any(row.throttled for row in rows):
        axis.text(0.995, 0.09, "bar: throttled", transform=axis.transAxes, ha="right", fontsize=7, color="#b2182b")


def _battery(axis: Any, result: ScenarioResult) -> None:
    rows = result.trace.battery
    axis.plot([row.t for row in rows], [row.voltage_v for row in rows], color="#1f5fa8", linewidth=1.8)
    _limit(axis, EMERGENCY_V, f"emergency below {EMERGENCY_V:g} V", "#1f5fa8", below=True)
    known = [row.voltage_v for row in rows if not math.isnan(row.voltage_v)]
    axis.set_ylim(min([13.4, *(volt - 0.2 for volt in known)]), max([16.0, *(volt + 0.2 for volt in known)]))
    axis.set_ylabel("battery [V]", color="#1f5fa8")
    charge = axis.twinx()
    charge.plot([row.t for row in rows], [100 * row.state_of_charge for row in rows], color="#1b7837", linewidth=1.2)
    charge.set_ylim(0, 100)
    charge.set_ylabel("charge [%]", color="#1b7837")


def _link(axis: Any, result: ScenarioResult) -> None:
    rows = result.trace.link
    losses = [100 * row.loss if row.age_s <= STALE_S else math.nan for row in rows]
    axis.plot([row.t for row in rows], losses, color="#7b3294", linewidth=1.8)
    _limit(axis, LOSS_LIMIT, f"bad above {LOSS_LIMIT:g} %", "#7b3294")
    most = max((100 * row.loss for row in rows if not math.isnan(row.loss)), default=0.0)
    axis.set_ylim(-1, max(20.0, most * 1.15))
    axis.set_ylabel("link: loss [%]", color="#7b3294")
    other = axis.twinx()
    if any(row.level for row in result.trace.threat):
        refused = result.trace.refused
        other.plot([row.t for row in refused], [row.per_s for row in refused], color="#d55e00", linewidth=1.2)
        for row in result.trace.alarms:
            other.axvline(row.t, color="#d55e00" if row.level else "#1b7837", linewidth=0.9, linestyle=":")
        other.set_ylabel("refused [1/s]\n(dotted: alarms)", color="#d55e00")
        other.set_ylim(bottom=0)
    else:
        other.plot(
            [row.t for row in rows],
            [row.gap_p95_ms if row.age_s <= STALE_S else math.nan for row in rows],
            color="#e08214",
            linewidth=1.2,
        )
        other.set_ylabel("95 % gap [ms]", color="#e08214")
        other.set_ylim(0, max([50.0, *(row.gap_p95_ms * 1.2 for row in rows if not math.isnan(row.gap_p95_ms))]))


def _flight(axis: Any, result: ScenarioResult) -> None:
    rows = result.trace.vehicle
    axis.plot([row.t for row in rows], [row.relative_altitude_m for row in rows], color="#444444", linewidth=1.6)
    axis.set_ylim(-0.5, result.scenario.altitude_m * 1.5)
    axis.set_ylabel("height [m]")
    for begin_s, end_s, phase in _spans(result):
        if end_s - begin_s > 3.0 and phase in PHASES:
            where = (begin_s + end_s) / 2, result.scenario.altitude_m * 1.38
            axis.text(*where, PHASES[phase], ha="center", va="top", fontsize=8, bbox=_BOX)


def _spans(result: ScenarioResult) -> list[tuple[float, float, int]]:
    """(begin, end, phase) of each phase of flight."""
    spans: list[tuple[float, float, int]] = []
    for row in result.trace.vehicle:
        if spans and spans[-1][2] == row.phase:
            spans[-1] = (spans[-1][0], row.t, row.phase)
        else:
            if spans:
                spans[-1] = (spans[-1][0], row.t, spans[-1][2])
            spans.append((row.t, row.t, row.phase))
    return spans


def _limit(axis: Any, value: float, text: str, colour: str, *, below: bool = False) -> None:
    """A limit of the policy, with its name on the side that is beyond it or where there is room."""
    axis.axhline(value, color=colour, linestyle="--", linewidth=0.9)
    where = {"xycoords": ("axes fraction", "data"), "xytext": (-3, -2 if below else 2), "textcoords": "offset points"}
    side = "top" if below else "bottom"
    axis.annotate(text, (1.0, value), **where, ha="right", va=side, fontsize=7, color=colour, bbox=_BOX)


def _end_s(result: ScenarioResult) -> float:
    return max([result.scenario.duration_s, *(row.t for row in result.trace.decisions)])


def _shade(axis: Any, result: ScenarioResult) -> None:
    for begin_s, end_s, phase in _spans(result):
        axis.axvspan(begin_s, end_s, color=PHASE_SHADES.get(phase, "#eeeeee"), zorder=-10, linewidth=0)


def _marks(axis: Any, requests: Sequence[DecisionRow], *, numbered: bool) -> None:
    for number, row in enumerate(requests, 1):
        colour = COLOURS.get(row.action, "#555555")
        axis.axvline(row.t, color=colour, linewidth=1.3)
        if numbered:
            axis.annotate(
                f"{number} {row.action}",
                (row.t, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(2, -3 - 9 * ((number - 1) % 2)),
                textcoords="offset points",
                fontsize=7.5,
                color=colour,
                va="top",
                fontweight="bold",
            )
