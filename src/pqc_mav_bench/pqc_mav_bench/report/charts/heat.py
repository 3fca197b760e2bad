# SPDX-License-Identifier: Apache-2.0
"""Heatmaps with the number in every cell."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.colors import LogNorm, Normalize, to_hex
from matplotlib.patches import Rectangle

from pqc_mav_bench.report.figure import Drawing, drawing
from pqc_mav_bench.report.numbers import number, quantity

#: Fixed colours of the text on a cell: they belong to the cell, not to the paper.
_ON_LIGHT, _ON_DARK = "#000001", "#fffffe"


@dataclass(frozen=True)
class Panel:
    """One heatmap: values[row][column], NaN for what was not measured."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float]]
    unit: str
    log: bool = False


#: Values take the whole range of colours only when the largest is so much more than the smallest: a difference of one
#: per cent must not look like one of a hundred.
_FULL_COLOUR = 1.5


def _normalise(values: list[float], log: bool) -> Normalize:
    low, high = min(values), max(values)
    if log:
        return LogNorm(low, max(high, low * _FULL_COLOUR))
    return Normalize(low, max(high, low + (_FULL_COLOUR - 1) * max(abs(low), abs(high)), low + 1e-9))


def _paint(draw: Drawing, axes, panel: Panel, fontsize: float, named: bool) -> None:  # type: ignore[no-untyped-def]
    known = [v for row in panel.values for v in row if math.isfinite(v) and (v > 0 or not panel.log)]
    scale = _normalise(known, panel.log) if known else Normalize(0, 1)
    colours = mpl.colormaps["cividis"]
    axes.grid(visible=False)
    for i, row in enumerate(panel.values):
        for j, value in enumerate(row):
            if not math.isfinite(value) or (panel.log and value <= 0):
                axes.text(j, i, "–", ha="center", va="center", fontsize=fontsize)
                continue
            shade = float(scale(value))
            cell = Rectangle((j - 0.49, i - 0.48), 0.98, 0.96, facecolor=to_hex(colours(shade)), linewidth=0)
            axes.add_patch(cell)
            draw.tip(cell, f"{panel.rows[i]}, {panel.columns[j]}: {quantity(value, panel.unit)}")
            ink = _ON_LIGHT if shade > 0.55 else _ON_DARK
            axes.text(j, i, number(value), ha="center", va="center", fontsize=fontsize, color=ink)
    axes.set_xlim(-0.5, len(panel.columns) - 0.5)
    axes.set_ylim(len(panel.rows) - 0.5, -0.5)
    axes.set_xticks(range(len(panel.columns)), panel.columns)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(panel.rows)), panel.rows, fontsize=min(10, fontsize + 0.5))
    axes.tick_params(length=0, labelleft=named)
    axes.spines[:].set_visible(False)
    if panel.title:
        axes.set_title(panel.title, pad=8)


def heatmaps(panels: Sequence[Panel], row_px: float = 34) -> Drawing:
    """Heatmaps side by side over the same rows; each has its own scale, so colours compare within a panel only."""
    rows = max(len(panel.rows) for panel in panels)
    with drawing(90 + row_px * rows, 1, len(panels), squeeze=False) as (draw, axes):
        for i, (place, panel) in enumerate(zip(axes[0], panels, strict=True)):
            same = i > 0 and list(panel.rows) == list(panels[0].rows)
            _paint(draw, place, panel, 10 if row_px >= 20 else 9, named=not same)
        return draw
