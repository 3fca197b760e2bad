# SPDX-License-Identifier: Apache-2.0
"""Charts of points and lines: scatter plots, curves, cumulative distributions, dots per suite."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from pqc_mav_bench.report import palette
from pqc_mav_bench.report.axes import ABOVE, log_axis, widen
from pqc_mav_bench.report.figure import Drawing, clean_axis, drawing
from pqc_mav_bench.report.numbers import quantity


@dataclass(frozen=True)
class Points:
    """Points of one colour and shape. `tips` is one text per point."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    tips: Sequence[str]
    colour: str
    marker: str = "o"


def _dots(draw: Drawing, axes: Axes, points: Points, size: float = 6.5) -> None:
    for x, y, tip in zip(points.x, points.y, points.tips, strict=True):
        if np.isfinite(x) and np.isfinite(y):
            (dot,) = axes.plot(x, y, points.marker, markersize=size, color=points.colour, alpha=0.85, markeredgewidth=0)
            draw.tip(dot, tip)


def _legend(draw: Drawing, groups: Sequence[Points], more: Sequence[Line2D] = ()) -> None:
    handles = [
        Line2D([], [], marker=g.marker, linestyle="", color=g.colour, markersize=7, label=g.label)
        for g in groups
        if len(g.x)
    ]
    if len(handles) + len(more) > 1:
        draw.figure.legend(handles=[*handles, *more], loc=ABOVE, ncols=4)


def frontier(groups: Sequence[Points], front: Points, steps: Points, axis: str, levels: Sequence[int]) -> Drawing:
    """Level against handshake time. `front` is the frontier, `steps` the fastest of each level, joined by a line."""
    with drawing(360) as (draw, axes):
        axes.plot(steps.x, steps.y, "--", color=palette.light("muted"), linewidth=1.5, zorder=1)
        for i, group in enumerate(groups):
            # Families of one level lie side by side, or they would hide each other.
            offset = (i - (len(groups) - 1) / 2) * 0.22
            shifted = Points(
                group.label, group.x, [y + offset for y in group.y], group.tips, group.colour, group.marker
            )
            _dots(draw, axes, shifted)
        for points, style in ((steps, "s"), (front, "o")):
            ring = {
                "markerfacecolor": "none",
                "markeredgecolor": palette.light("ink"),
                "markersize": 15 if style == "o" else 11,
            }
            for x, y, tip in zip(points.x, points.y, points.tips, strict=True):
                (mark,) = axes.plot(x, y, style, markeredgewidth=1.4, **ring)
                draw.tip(mark, tip)
        log_axis(axes, "x")
        axes.set_yticks(levels, [f"Level {level}" for level in levels])
        axes.set_ylim(min(levels) - 0.9, max(levels) + 0.9)
        axes.set_xlabel(axis)
        hollow = {"linestyle": "", "markerfacecolor": "none", "markeredgecolor": palette.light("ink")}
        more = [
            Line2D([], [], marker="s", markersize=8, label=steps.label, **hollow),  # type: ignore[arg-type]
            Line2D([], [], marker="o", markersize=10, label=front.label, **hollow),  # type: ignore[arg-type]
        ]
        _legend(draw, groups, more)
        return draw


def curves(lines: Sequence[Points], x_axis: str, y_axis: str, marks: Sequence[tuple[float, str]]) -> Drawing:
    """Curves on double-logarithmic axes, each named at its end; `marks` are vertical lines (x, text)."""
    with drawing(420) as (draw, axes):
        styles = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3))]
        for i, line in enumerate(lines):
            (drawn,) = axes.plot(
                line.x, line.y, linestyle=styles[i % len(styles)], color=line.colour, linewidth=2, label=line.label
            )
            draw.tip(drawn, line.tips[0])
        for x, text in marks:
            axes.axvline(x, color=palette.light("muted"), linewidth=1, linestyle=":")
            axes.annotate(
                text,
                (x, 1),
                (4, -4),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                va="top",
                fontsize=10,
            )
        log_axis(axes, "x")
        log_axis(axes, "y")
        axes.set_xlabel(x_axis)
        axes.set_ylabel(y_axis)
        draw.figure.legend(loc=ABOVE, ncols=2)
        return draw


def steps(groups: Sequence[Points], axis: str, log: bool = False) -> Drawing:
    """Cumulative distributions over suites: the share of suites at or below a value."""
    with drawing(380) as (draw, axes):
        styles = ["-", "--", ":"]
        for i, group in enumerate(groups):
            order = np.argsort(np.asarray(group.x, dtype=float), kind="stable")
            values = np.asarray(group.x, dtype=float)[order]
            share = 100 * np.arange(1, len(values) + 1) / len(values)
            axes.step(values, share, where="post", linestyle=styles[i % 3], color=group.colour, linewidth=2)
            for j, place in enumerate(order):
                (dot,) = axes.plot(values[j], share[j], group.marker, markersize=4, color=group.colour)
                draw.tip(dot, group.tips[place])
        if log:
            log_axis(axes, "x")
        axes.set_ylim(0, 103)
        axes.set_xlabel(axis)
        axes.set_ylabel("Share of suites (%)")
        _legend(draw, groups)
        return draw


def dots(groups: Sequence[Points], y_axis: str, in_a_row: str = "") -> Drawing:
    """Dots of groups side by side, y logarithmic; x of a dot is its group's number and a shift. `in_a_row`: x only
    orders the dots and has no scale but this name."""
    with drawing(400) as (draw, axes):
        clean_axis(axes, "y")
        for group in groups:
            _dots(draw, axes, group)
        log_axis(axes, "y")
        axes.set_ylabel(y_axis)
        if in_a_row:
            axes.set_xticks([])
            axes.set_xlabel(in_a_row)
            _legend(draw, groups)
        else:
            axes.set_xticks(range(len(groups)), [group.label for group in groups])
            axes.set_xlim(-0.6, len(groups) - 0.4)
        return draw


def regression(groups: Sequence[Points], axis_x: str, axis_y: str) -> Drawing:
    """Predicted against measured on double-logarithmic axes with the line of equality."""
    with drawing(420) as (draw, axes):
        for group in groups:
            _dots(draw, axes, group)
        both = [v for group in groups for v in (*group.x, *group.y) if np.isfinite(v)]
        ends = (min(both) * 0.8, max(both) * 1.25)
        axes.plot(ends, ends, "--", color=palette.light("muted"), linewidth=1.2)
        for which in ("x", "y"):
            log_axis(axes, which)
        axes.set(xlim=ends, ylim=ends, xlabel=axis_x, ylabel=axis_y)
        _legend(draw, groups)
        return draw


def per_suite(
    labels: Sequence[str], groups: Sequence[Points], axis: str, unit: str, line: tuple[float, str] | None = None
) -> Drawing:
    """One row per suite with a dot per group (for example per scenario); x of a group follows `labels`, NaN is left
    out."""
    with drawing(80 + 15.5 * len(labels)) as (draw, axes):
        clean_axis(axes, "x")
        for i in range(len(labels)):
            spread = [float(group.x[i]) for group in groups if np.isfinite(group.x[i])]
            if len(spread) > 1:
                axes.plot([min(spread), max(spread)], [i, i], color=palette.light("grid"), linewidth=3, zorder=1)
        for group in groups:
            for i, value in enumerate(group.x):
                if np.isfinite(value):
                    (dot,) = axes.plot(
                        value, i, group.marker, markersize=6, color=group.colour, markeredgewidth=0, zorder=3
                    )
                    draw.tip(dot, f"{labels[i]}, {group.label}: {quantity(float(value), unit)}")
        widen(axes, "x", [float(v) for group in groups for v in group.x] + ([line[0]] if line else []))
        if line:
            axes.axvline(line[0], color=palette.light("ink"), linestyle="--", linewidth=1)
            axes.annotate(
                line[1], (line[0], -1.3), (-4, 0), textcoords="offset points", va="center", ha="right", fontsize=10
            )
        axes.set_yticks(range(len(labels)), labels, fontsize=9.5)
        axes.set_ylim(len(labels) - 0.4, -2.0 if line else -0.6)
        axes.set_xlabel(axis)
        _legend(draw, groups)
        return draw
