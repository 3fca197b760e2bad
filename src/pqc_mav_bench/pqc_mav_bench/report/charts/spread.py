# SPDX-License-Identifier: Apache-2.0
"""Distributions of groups: box plots and violins, every value shown where there are few."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pqc_mav_bench.analysis.statistics import box, finite
from pqc_mav_bench.report import palette
from pqc_mav_bench.report.axes import log_axis, widen
from pqc_mav_bench.report.figure import Drawing, clean_axis, drawing
from pqc_mav_bench.report.numbers import quantity


@dataclass(frozen=True)
class Group:
    """One distribution; `names` label its values in tooltips."""

    label: str
    values: Sequence[float]
    names: Sequence[str]
    colour: str


@dataclass(frozen=True)
class Panel:
    """Groups on one pair of axes."""

    groups: Sequence[Group]
    axis: str
    unit: str
    log: bool = False


def _box(draw: Drawing, axes, x: int, group: Group, unit: str) -> None:  # type: ignore[no-untyped-def]
    parts = box(group.values)
    ink = palette.light("ink")
    (body,) = axes.bar(
        x, parts.q3 - parts.q1, 0.5, bottom=parts.q1, color=group.colour, alpha=0.55, edgecolor=ink, linewidth=1
    )
    n = finite(group.values).size
    draw.tip(
        body,
        f"{group.label}: median {quantity(parts.median, unit)}, quartiles {quantity(parts.q1, unit)} "
        f"to {quantity(parts.q3, unit)}, n = {n}",
    )
    axes.plot([x - 0.25, x + 0.25], [parts.median] * 2, color=ink, linewidth=2)
    for end, edge in ((parts.low, parts.q1), (parts.high, parts.q3)):
        axes.plot([x, x], [edge, end], color=ink, linewidth=1)
        axes.plot([x - 0.12, x + 0.12], [end, end], color=ink, linewidth=1)
    named = list(zip(group.values, group.names, strict=True))
    for value in parts.outliers:
        name = next(name for v, name in named if v == value)
        (dot,) = axes.plot(x, value, "o", markersize=4.5, markerfacecolor="none", markeredgecolor=ink)
        draw.tip(dot, f"{name}: {quantity(value, unit)}")


def boxes(panels: Sequence[Panel], height_px: float = 380, columns: int | None = None, tilt: float = 0) -> Drawing:
    """Box plots: box = interquartile range, line = median, whiskers within 1.5 ranges, rings beyond."""
    columns = columns or len(panels)
    rows = -(-len(panels) // columns)
    with drawing(height_px, rows, columns, squeeze=False) as (draw, axes):
        for place, panel in zip(axes.flat, panels, strict=False):
            clean_axis(place, "y")
            for x, group in enumerate(panel.groups):
                if finite(group.values).size:
                    _box(draw, place, x, group, panel.unit)
            shown = [float(v) for group in panel.groups for v in finite(group.values)]
            if panel.log:
                log_axis(place, "y")
                place.set_ylim(min(shown) * 0.7, max(shown) * 1.4)
            else:
                place.margins(y=0.08)
                widen(place, "y", shown)
            labels = [f"{group.label}\nn = {finite(group.values).size}" for group in panel.groups]
            place.set_xticks(
                range(len(labels)), labels, rotation=tilt, ha="right" if tilt else "center", rotation_mode="anchor"
            )
            place.set_xlim(-0.6, len(labels) - 0.4)
            place.set_ylabel(panel.axis)
        for unused in list(axes.flat)[len(panels) :]:
            unused.set_visible(False)
        return draw


def violins(panel: Panel, height_px: float = 380) -> Drawing:
    """Violins (Gaussian kernel density) with every value as a dot; a group without spread is drawn as its dots
    alone."""
    with drawing(height_px) as (draw, axes):
        clean_axis(axes, "y")
        for x, group in enumerate(panel.groups):
            values = finite(group.values)
            if values.size > 2 and np.ptp(values) > 0:
                parts = axes.violinplot(values, [x], widths=0.75, showextrema=False, showmedians=True)
                for body in parts["bodies"]:
                    body.set(facecolor=group.colour, alpha=0.45, edgecolor=group.colour)
                parts["cmedians"].set(color=palette.light("ink"))
            for i, (value, name) in enumerate(zip(group.values, group.names, strict=True)):
                if not np.isfinite(value):
                    continue
                # A fixed spread keeps two runs of the report identical.
                (dot,) = axes.plot(x + 0.12 * ((i * 7) % 11 - 5) / 5, value, "o", markersize=3.5, color=group.colour)
                draw.tip(dot, f"{name}, {group.label}: {quantity(value, panel.unit)}")
        labels = [f"{group.label}\nn = {finite(group.values).size}" for group in panel.groups]
        axes.set_xticks(range(len(labels)), labels)
        axes.set_xlim(-0.6, len(labels) - 0.4)
        shown = [float(v) for group in panel.groups for v in finite(group.values)]
        axes.set_ylim(-0.04 * max(shown), max(shown) * 1.06) if max(shown) > 0 else widen(axes, "y", shown)
        axes.set_ylabel(panel.axis)
        return draw
