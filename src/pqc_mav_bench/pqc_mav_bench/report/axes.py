# SPDX-License-Identifier: Apache-2.0
"""Axes that several charts share: plain numbers on logarithmic scales."""

import math
from collections.abc import Iterable
from typing import Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator

from pqc_mav_bench.report.numbers import number

# Where a legend stands above all axes; before matplotlib 3.7 it has to stand in them.
ABOVE: Literal["outside upper left", "upper left"] = (
    "outside upper left" if matplotlib.__version_info__ >= (3, 7) else "upper left"
)


def log_axis(axes: Axes, which: Literal["x", "y"]) -> None:
    """A base-10 scale whose decades are written as plain numbers (0.01, 1, 1,000), never as powers."""
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(base=10, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value, 1)))
    axis.set_minor_locator(LogLocator(base=10, subs=tuple(range(2, 10)), numticks=200))
    axis.set_minor_formatter(FuncFormatter(lambda value, _: _between(value, *axis.get_view_interval())))


def _between(value: float, low: float, high: float) -> str:
    """Label of a tick between two decades: 2 and 5 are named on an axis of about two decades at most."""
    mantissa = round(value / 10 ** math.floor(math.log10(value) + 1e-9))
    return number(value, 1) if high / low < 200 and mantissa in (2, 5) else ""


def widen(axes: Axes, which: Literal["x", "y"], values: Iterable[float], share: float = 0.02) -> None:
    """Keeps an axis from blowing up differences below `share` of the values; zero everywhere is shown on an axis to
    1."""
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return
    low, high = min(known), max(known)
    span = max(abs(low), abs(high)) * share or 1.0
    if high - low < span:
        middle = (low + high) / 2
        ends = (middle - span, middle + span) if middle else (-0.05, 1.0)
        (axes.set_xlim if which == "x" else axes.set_ylim)(*ends)
