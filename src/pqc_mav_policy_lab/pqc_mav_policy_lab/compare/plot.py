# SPDX-License-Identifier: Apache-2.0
"""The picture of a comparison: what every strategy was worth, and how it flew every mission. Needs matplotlib."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import Phase, Threat
from pqc_mav_policy_lab.compare.comparison import Comparison, Row, Trace

# NIST level 0 is a second without data. From light to dark is from weak to strong, even without colours.
LEVEL_COLOURS = {0: "#ffffff", 1: "#c6dbef", 3: "#4292c6", 5: "#08306b"}
TROUBLE = "#f4a582"
BROKEN = "#b2182b"
LOSSY = 0.05


def draw(comparison: Comparison, parameters: PolicyParameters, path: Path) -> None:
    """Writes the picture as PNG, whole or not at all. Raises OSError."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    missions = list(dict.fromkeys(row.mission for row in comparison.rows))
    strategies = list(dict.fromkeys(row.strategy for row in comparison.rows))
    columns = 2
    lines = -(-len(missions) // columns)
    figure = Figure(figsize=(14.0, 3.4 + 2.5 * lines), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(1 + lines, 6, height_ratios=[1.25, *[1.0] * lines])
    _bars(
        figure.add_subplot(grid[0, 0:2]),
        comparison.rows,
        missions,
        strategies,
        "Security-weighted share of the mission",
    )
    _totals(figure.add_subplot(grid[0, 2:4]), comparison.rows, strategies, "Rekeys, all missions", lambda r: r.rekeys)
    _totals(
        figure.add_subplot(grid[0, 4:6]),
        comparison.rows,
        strategies,
        "Violated invariants and limits, all missions",
        lambda r: r.broken,
        BROKEN,
    )
    for number, mission in enumerate(missions):
        left = 3 * (number % columns)
        axes = figure.add_subplot(grid[1 + number // columns, left : left + 3])
        _strips(axes, [trace for trace in comparison.traces if trace.mission == mission], comparison.rows, parameters)
    _legend(figure)
    sources = sorted({row.source for row in comparison.rows})
    figure.suptitle(f"Strategies of the policy on {len(missions)} missions ({' and '.join(sources)})", fontsize=13)
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=110, metadata={"Software": None})
    atomic_write(path, picture.getvalue())


def _bars(axes: Any, rows: Sequence[Row], missions: Sequence[str], strategies: Sequence[str], title: str) -> None:
    from matplotlib import colormaps

    colours = colormaps["viridis"]
    width = 0.8 / len(strategies)
    for number, strategy in enumerate(strategies):
        values = [next(r.mean_security for r in rows if (r.mission, r.strategy) == (m, strategy)) for m in missions]
        places = [index - 0.4 + width * (number + 0.5) for index in range(len(missions))]
        axes.bar(places, values, width, label=strategy, color=colours(number / max(1, len(strategies) - 1)))
    axes.set_xticks(range(len(missions)), missions, fontsize=8, rotation=20, ha="right")
    axes.set_ylim(0.0, 1.35)
    axes.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=7, ncols=3, loc="upper center", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def _totals(
    axes: Any, rows: Sequence[Row], strategies: Sequence[str], title: str, value: Any, colour: str = "#6b6b6b"
) -> None:
    totals = [sum(value(row) for row in rows if row.strategy == strategy) for strategy in strategies]
    bars = axes.barh(range(len(strategies)), totals, color=colour)
    axes.bar_label(bars, padding=3, fontsize=8)
    axes.set_yticks(range(len(strategies)), strategies, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, max(1, *totals) * 1.15)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _strips(axes: Any, traces: Sequence[Trace], rows: Sequence[Row], parameters: PolicyParameters) -> None:
    """One strip per strategy, coloured by level; ticks show renewed keys, the background shows trouble."""
    first = traces[0]
    seconds = len(first.level)
    for number, trace in enumerate(traces):
        for begin, end, level in _runs(trace.level):
            axes.broken_barh([(begin, end - begin)], (number - 0.35, 0.7), color=LEVEL_COLOURS[level], linewidth=0)
        axes.vlines(trace.rekeys, number - 0.42, number - 0.22, color="black", linewidth=0.9)
        broken = next(r.broken for r in rows if (r.mission, r.strategy) == (trace.mission, trace.strategy))
        if broken:
            axes.annotate(
                str(broken),
                (seconds * 1.012, number),
                color=BROKEN,
                fontsize=8,
                fontweight="bold",
                va="center",
                annotation_clip=False,
            )
    trouble = _trouble(first, parameters)
    for begin, end, flag in _runs(trouble):
        if flag:
            axes.axvspan(begin, end, ymin=0.0, ymax=1.0, color=TROUBLE, alpha=0.35, linewidth=0, zorder=0)
    airborne = [index for index, phase in enumerate(first.phases) if phase not in (Phase.UNKNOWN, Phase.DISARMED)]
    if airborne:
        for at in (airborne[0], airborne[-1]):
            axes.axvline(at, color="black", linestyle=":", linewidth=0.8)
    axes.set_yticks(range(len(traces)), [trace.strategy for trace in traces], fontsize=8)
    axes.set_ylim(len(traces) - 0.4, -0.6)
    axes.set_xlim(0, seconds)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_title(f"{first.mission}  (seconds)", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _trouble(trace: Trace, parameters: PolicyParameters) -> list[int]:
    """Where the first strategy's flight had an emergency, loss or an attack; nearly the same in all flights."""
    found = []
    for temperature, voltage, loss, threat in zip(
        trace.temperature_c, trace.voltage_v, trace.loss, trace.threat, strict=True
    ):
        hot = temperature is not None and temperature > parameters.temperature_emergency_c
        empty = voltage is not None and voltage < parameters.battery_emergency_v
        found.append(int(hot or empty or (loss or 0.0) > LOSSY or threat == Threat.ATTACK))
    return found


def _runs(values: Sequence[int]) -> list[tuple[int, int, int]]:
    """(begin, end, value) of every stretch of equal values."""
    found: list[tuple[int, int, int]] = []
    begin = 0
    for index in range(1, len(values) + 1):
        if index == len(values) or values[index] != values[begin]:
            found.append((begin, index, values[begin]))
            begin = index
    return found


def _legend(figure: Any) -> None:
    import matplotlib
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(facecolor=colour, edgecolor="#888888", label=f"NIST level {level}" if level else "no data")
        for level, colour in LEVEL_COLOURS.items()
    ]
    handles += [
        Line2D([], [], color="black", marker="|", linestyle="", markersize=8, label="keys renewed"),
        Patch(facecolor=TROUBLE, alpha=0.35, label="emergency, losses or attack"),
        Line2D([], [], color="black", linestyle=":", label="take-off, landing"),
        Line2D([], [], color=BROKEN, marker="$n$", linestyle="", markersize=7, label="violations in this flight"),
    ]
    below = "outside lower center" if matplotlib.__version_info__ >= (3, 7) else "lower center"
    figure.legend(handles=handles, loc=below, ncols=len(handles), fontsize=8, frameon=False)
