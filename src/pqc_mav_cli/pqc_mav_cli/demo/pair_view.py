# SPDX-License-Identifier: Apache-2.0
"""Flights that are compared, from the first to the picture and the verdict: what all such demos have in common."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pqc_mav_cli.demo.output import print_result
from pqc_mav_cli.demo.pair import PairResult, fly_all
from pqc_mav_cli.demo.view import verdict
from pqc_mav_cli.ending import INTERRUPTED

Result = TypeVar("Result", bound=PairResult)


def fly_and_print(
    name: str,
    result: Result,
    module: str,
    givens: Sequence[dict[str, Any]],
    show: tuple[Callable[[Result, Path], None], Callable[[Result], RenderableType]],
    plot: str,
    as_json: bool,
) -> int:
    """Flies, draws and judges. `show`: what draws, and what is printed. Returns the exit code. Raises CliError."""
    if not fly_all(result, module, givens):
        return INTERRUPTED
    draw, summary = show
    if all(flight.samples for flight in result.flights):
        path = Path(plot or f"pqcmav-demo-{name}.png").expanduser()
        draw(result, path)
        result.plot = str(path)
    said = [(flight.name, line) for flight in result.flights for line in flight.said]
    return print_result(result, lambda: summary(result), said, as_json)


def side_by_side(
    result: PairResult, title: str, rows: Mapping[str, Sequence[str]], note: str, proved: str
) -> RenderableType:
    """All flights in a table, what was simulated, and the verdict: what is `proved` if it is good."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title=title)
    table.add_column("")
    for flight in result.flights:
        table.add_column(flight.name, justify="right")
    for name, cells in rows.items():
        table.add_row(name, *cells)
    plot = [Text(f"plot: {result.plot}")] if result.plot else []
    checks, *rest = verdict(result.checks(), result.error, result.passed, proved)
    return Group(table, Text(note, "dim"), Text(""), checks, *plot, *rest)
