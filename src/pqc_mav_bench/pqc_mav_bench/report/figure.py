# SPDX-License-Identifier: Apache-2.0
"""From a Matplotlib figure to SVG that lives in the page: text as text, colours as CSS variables, tooltips as
titles."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from pqc_mav_bench.report import narrow, palette

_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "pqc-mav",
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.labelsize": 11,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "axes.edgecolor": palette.light("muted"),
    "axes.labelcolor": palette.light("ink"),
    "text.color": palette.light("ink"),
    "xtick.color": palette.light("muted"),
    "ytick.color": palette.light("muted"),
    "xtick.labelcolor": palette.light("ink"),
    "ytick.labelcolor": palette.light("ink"),
    "grid.color": palette.light("grid"),
    "grid.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "hatch.color": palette.light("paper"),
    "hatch.linewidth": 1.2,
    "axes.unicode_minus": True,
    "axes.formatter.useoffset": False,
}

#: Width of every chart [px]; for a phone it is laid out anew (narrow.py).
WIDTH_PX = 760
_DPI = 72


class Drawing:
    """A figure in the making, with its tooltips."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self.tips: dict[str, str] = {}
        self.when_narrow: list[Callable[[], object]] = []  # what else changes on a phone

    def tip(self, artist: Artist, text: str) -> None:
        """Shows `text` when the pointer rests on the artist."""
        name = f"tip{len(self.tips)}"
        artist.set_gid(name)
        # It lies inside its axes; leaving it out of the layout halves the time of a chart.
        artist.set_in_layout(False)
        self.tips[name] = text


@contextmanager
def drawing(height_px: float, rows: int = 1, columns: int = 1, **grid: Any) -> Iterator[tuple[Drawing, Any]]:
    """A figure of the page's width with its axes (one, or an array), laid out so that nothing overlaps."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH_PX / _DPI, height_px / _DPI), dpi=_DPI, layout="constrained")
        FigureCanvasSVG(figure)
        yield Drawing(figure), figure.subplots(rows, columns, **grid)


def clean_axis(axes: Axes, grid: str) -> None:
    """Grid lines along one axis only ('x' or 'y'), no tick marks on the other."""
    axes.grid(visible=False)
    axes.grid(visible=True, axis=grid)  # type: ignore[arg-type]
    axes.tick_params(axis="both", which="both", length=0)


_COLOUR = re.compile(r"#[0-9a-f]{6}")
_FONT = re.compile(r"font: (?:(?P<style>bold|italic|\d00) )?(?P<size>[\d.]+)px [^;\"]*")
_FAMILY = re.compile(r"font-family: [^;\"]*;?")
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_BY_VALUE = {values[0]: f"var(--{name})" for name, values in palette.COLOURS.items()}


def _font(match: re.Match[str]) -> str:
    weight = "font-weight: bold; " if match["style"] in ("bold", "700") else ""
    return f"{weight}font-size: {match['size']}px"


def _coordinate(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")


def to_narrow_svg(draw: Drawing, title: str, description: str, prefix: str) -> str:
    """The chart for a phone. Changes the drawing: to be called after `to_svg`, with another prefix."""
    with mpl.rc_context(_STYLE):
        for change in draw.when_narrow:
            change()
        narrow.lay_out(draw.figure, _DPI)
    return to_svg(draw, title, description, prefix)


def to_svg(draw: Drawing, title: str, description: str, prefix: str) -> str:
    """The SVG element. `prefix` keeps the ids of one page's charts apart; the description is read by screen readers."""
    buffer = io.StringIO()
    with mpl.rc_context(_STYLE):
        draw.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    body = (
        svg[svg.index("<defs>") : svg.rindex("</svg>")]
        if "<defs>" in svg
        else svg[svg.index("<g ") : svg.rindex("</svg>")]
    )
    box = re.search(r'viewBox="([^"]+)"', svg)
    for name, text in draw.tips.items():
        body = body.replace(f'<g id="{name}">', f'<g class="tip"><title>{escape(text)}</title>', 1)
    # Matplotlib's style rule would apply to the whole page; assets/style.css states it for charts alone.
    body = re.sub(r"<style.*?</style>|<metadata>.*?</metadata>|<!--.*?-->", "", body, flags=re.S)
    body = re.sub(r' transform="rotate\(-?0 [^"]*\)"', "", body)
    body = _FONT.sub(_font, body)
    body = _FAMILY.sub("", body)
    body = _COLOUR.sub(lambda match: _BY_VALUE.get(match[0], match[0]), body)
    # Coordinates only: texts between the tags are figures of the report and keep every digit.
    body = re.sub(r"<[^>]*>", lambda tag: _NUMBER.sub(_coordinate, tag[0]), body)
    body = re.sub(r'(<(?:g|path|text|clipPath|rect|use)[^>]*?) id="(?![mphc][0-9a-f]{8,})[^"]*"', r"\1", body)
    body = re.sub(r'(id="|xlink:href="#|href="#|url\(#)', rf"\g<1>{prefix}-", body).replace("xlink:href", "href")
    body = re.sub(r"\s*\n\s*", "\n", body).replace("<g/>\n", "")
    body = re.sub(r" \n(?=[LMCQz])", " ", body)
    return (
        f'<svg class="chart" role="img" aria-labelledby="{prefix}-t {prefix}-d" '
        f'viewBox="{box[1] if box else "0 0 760 400"}">'
        f'<title id="{prefix}-t">{escape(title)}</title><desc id="{prefix}-d">{escape(description)}</desc>{body}</svg>'
    )
