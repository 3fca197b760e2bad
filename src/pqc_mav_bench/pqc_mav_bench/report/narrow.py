# SPDX-License-Identifier: Apache-2.0
"""A chart once more for a phone: its panels below each other, its legend in fewer columns, its text as large as ever.

A chart of the page's width would have to be scrolled sideways there, or be shrunk until nobody can read it.
"""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from pqc_mav_bench.report.axes import ABOVE

#: Width of the text's column on a phone of 390 px.
WIDTH_PX = 360
#: Tilt of names below bars, which have less room [degrees].
_TILT = 60
_LEGEND_PX = 330


def lay_out(figure: Figure, dpi: float) -> None:
    """Changes the figure for good: to be called after its wide form was drawn."""
    panels = [axes for axes in figure.axes if axes.get_visible()]
    height = float(figure.get_size_inches()[1])
    places = [axes.get_subplotspec() for axes in panels]
    rows = len({place.rowspan.start for place in places if place is not None}) or 1
    if len(panels) > 1:
        grid = figure.add_gridspec(len(panels), 1)
        for place, axes in enumerate(panels):
            axes.set_subplotspec(grid[place])
            axes.tick_params(labelleft=True)
    for axes in panels:
        _tilt(axes)
    for legend in list(figure.legends):
        _stack(figure, legend)
    # A panel keeps its height; a single one, which was drawn for twice the width, gets a little less.
    each = height / rows
    figure.set_size_inches(WIDTH_PX / dpi, each * len(panels) * (0.9 if each * dpi < 500 else 1.0))


def _tilt(axes: Axes) -> None:
    for label in axes.get_xticklabels():
        if 0 < label.get_rotation() < _TILT:
            label.set_rotation(_TILT)


def _stack(figure: Figure, legend: Legend) -> None:
    """The same legend in as many columns as have room."""
    # The name before matplotlib 3.7 was another.
    drawn = getattr(legend, "legend_handles", None) or getattr(legend, "legendHandles", [])
    handles, texts = list(drawn), [text.get_text() for text in legend.get_texts()]
    longest = max(map(len, texts), default=1)
    legend.remove()
    columns = max(1, min(len(texts), int(_LEGEND_PX / (7 * longest + 36))))
    figure.legend([handle for handle in handles if handle is not None], texts, loc=ABOVE, ncols=columns)
