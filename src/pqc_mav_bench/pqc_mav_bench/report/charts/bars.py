# SPDX-License-Identifier: Apache-2.0
"""Bar charts: groups side by side, and long rankings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pqc_mav_bench.report import palette
from pqc_mav_bench.report.axes import ABOVE, log_axis
from pqc_mav_bench.report.figure import Drawing, clean_axis, drawing
from pqc_mav_bench.report.numbers import quantity


@dataclass(frozen=True)
class Series:
    """One colour of a grouped bar chart; NaN where a category has no value."""

    label: str
    values: Sequence[float]
    colour: str
    hatch: str = ""


@dataclass(frozen=True)
class Panel:
    """One set of axes of a grouped bar chart."""

    categories: Sequence[str]
    series: Sequence[Series]
    axis: str
    unit: str
    log: bool = False
    #: Values drawn as hollow diamonds beside the bars, such as published figures: (label, values).
    reference: tuple[str, Sequence[float]] | None = None


#: With more bars than this in a panel their figures would run into each other; the table below has them.
_LABELLED = 20


def _panel(draw: Drawing, axes, panel: Panel, tilt: float) -> None:  # type: ignore[no-untyped-def]
    clean_axis(axes, "y")
    # A few bars are kept slim: a single one as wide as the chart says nothing.
    bars = max(1, len(panel.series)) * len(panel.categories)
    width = min(0.8 / max(1, len(panel.series)), 0.16 * max(bars, 1.6) if len(panel.categories) > 1 else 0.16)
    places = np.arange(len(panel.categories))
    for i, series in enumerate(panel.series):
        for x, category, value in zip(places, panel.categories, series.values, strict=True):
            if not math.isfinite(value) or (panel.log and value <= 0):
                continue
            shift = (i - (len(panel.series) - 1) / 2) * width
            (bar,) = axes.bar(x + shift, value, width * 0.94, color=series.colour, hatch=series.hatch, linewidth=0)
            draw.tip(bar, f"{category}, {series.label}: {quantity(value, panel.unit)}")
            if bars <= _LABELLED:
                figure = axes.annotate(
                    quantity(value, ""),
                    (x + shift, value),
                    (0, 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=9 if bars <= _LABELLED // 2 else 7.5,
                )
                if bars > _LABELLED // 2 - 2:
                    draw.when_narrow.append(partial(figure.set_rotation, 90))
    if panel.reference:
        label, values = panel.reference
        for x, category, value in zip(places, panel.categories, values, strict=True):
            if math.isfinite(value):
                (mark,) = axes.plot(
                    x, value, "D", markersize=7, markerfacecolor="none", markeredgecolor=palette.light("ink"), zorder=5
                )
                draw.tip(mark, f"{category}, {label}: {quantity(value, panel.unit)}")
    if panel.log:
        log_axis(axes, "y")
        shown = [v for series in panel.series for v in series.values if v > 0] + [
            v for v in (panel.reference[1] if panel.reference else ()) if v > 0
        ]
        # Half a step below the smallest value, or its bar would have no height.
        axes.set_ylim(bottom=min(shown) / 2)
    axes.set_xticks(places, panel.categories, rotation=tilt, ha="right" if tilt else "center", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(panel.categories) - 0.4)
    axes.set_ylabel(panel.axis)


def grouped(
    panels: Sequence[Panel], height_px: float = 380, tilt: float = 0, widths: Sequence[float] | None = None
) -> Drawing:
    """Panels side by side with one legend above. Each category has one bar per series."""
    ratios = {"width_ratios": list(widths)} if widths else {}
    with drawing(height_px, 1, len(panels), squeeze=False, **ratios) as (draw, axes):
        for place, panel in zip(axes[0], panels, strict=True):
            _panel(draw, place, panel, tilt)
        known: dict[str, object] = {}
        for panel in panels:
            for series in panel.series:
                known.setdefault(series.label, Patch(facecolor=series.colour, hatch=series.hatch, label=series.label))
            if panel.reference:
                mark = Line2D(
                    [], [], marker="D", linestyle="", markerfacecolor="none", markeredgecolor=palette.light("ink")
                )
                mark.set_label(panel.reference[0])
                known.setdefault(panel.reference[0], mark)
        if len(known) > 1:
            draw.figure.legend(handles=list(known.values()), loc=ABOVE, ncols=min(4, len(known)))
        return draw


def ranked(
    labels: Sequence[str],
    values: Sequence[float],
    colours: Sequence[str],
    legend: Mapping[str, str],
    axis: str,
    unit: str,
    log: bool = True,
    tips: Sequence[str] | None = None,
    line: tuple[float, str] | None = None,
    intervals: Sequence[tuple[float, float]] = (),
) -> Drawing:
    """Horizontal bars in the order given, first on top; `legend` is label -> colour, `line` a vertical mark,
    `intervals` low and high of each value, drawn as whiskers."""
    with drawing(70 + 15.5 * len(labels)) as (draw, axes):
        clean_axis(axes, "x")
        floor = 0.8 * min(v for v in values if v > 0) if log else 0.0
        for i, (label, value, colour) in enumerate(zip(labels, values, colours, strict=True)):
            (bar,) = axes.barh(i, value - floor, 0.78, left=floor, color=colour, linewidth=0)
            draw.tip(bar, tips[i] if tips else f"{label}: {quantity(value, unit)}")
            end = value
            if intervals and all(map(math.isfinite, intervals[i])):
                low, end = intervals[i]
                axes.plot([max(low, floor), end], [i, i], color=palette.light("ink"), linewidth=1, zorder=4)
            axes.annotate(quantity(value, ""), (end, i), (3, 0), textcoords="offset points", va="center", fontsize=9)
        if log:
            log_axis(axes, "x")
            axes.set_xlim(floor, max([*values, *(high for _, high in intervals if math.isfinite(high))]) * 1.9)
        else:
            axes.set_xlim(0, max(max(values), line[0] if line else 0) * 1.12)
        if line:
            axes.axvline(line[0], color=palette.light("ink"), linestyle="--", linewidth=1)
            axes.annotate(line[1], (line[0], -1.2), (4, 0), textcoords="offset points", va="center", fontsize=10)
        axes.set_yticks(range(len(labels)), labels, fontsize=9.5)
        axes.set_ylim(len(labels) - 0.4, -2.0 if line else -0.6)
        axes.set_xlabel(axis)
        handles = [Patch(facecolor=colour, label=name) for name, colour in legend.items()]
        if len(handles) > 1:
            draw.figure.legend(handles=handles, loc=ABOVE, ncols=min(4, len(handles)))
        return draw
