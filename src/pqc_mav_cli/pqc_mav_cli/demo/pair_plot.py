# SPDX-License-Identifier: Apache-2.0
"""The picture of flights that are compared: side by side, on the same scales."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pqc_mav_cli.demo.pair import PROMPT_MS, Flight, PairResult, milliseconds
from pqc_mav_cli.demo.picture import picture

COLOURS = ("#b2182b", "#2166ac", "#1b7837")
LEAST_MS = 5.0
UNANSWERED_MS = 15_000.0  # drawn above every answer


class Row(NamedTuple):
    """One row of the picture: its name, from where to where it goes, and how a flight is drawn in it."""

    name: str
    limits: tuple[float, float]
    draw: Callable[[Any, Flight, str], None]


def most(result: PairResult, name: str, least: float) -> tuple[float, float]:
    """From just below 0 to above all values of the flights."""
    values = [each[name] for flight in result.flights for each in flight.samples if each[name] is not None]
    top = 1.12 * max([least, *values])
    return -0.02 * top, top


def draw_rows(result: PairResult, path: Path, rows: Sequence[Row], said: Callable[[Flight], str], title: str) -> None:
    """Writes the picture as PNG; the file appears when it is complete. Raises CliError."""
    count = len(result.flights)
    colours = COLOURS if count == len(COLOURS) else (COLOURS[0], COLOURS[-1])
    size = (6 * count, 2.5 * len(rows))
    with picture(path, len(rows), count, figsize=size, sharex=True, sharey="row") as (figure, axes):
        for column, (flight, colour) in enumerate(zip(result.flights, colours, strict=True)):
            for row, line in zip(rows, axes, strict=True):
                row.draw(line[column], flight, colour)
            axes[0][column].set_title(f"{flight.name}: {said(flight)}", fontsize=11)
            axes[-1][column].set_xlabel("time of flight [s]")
        for row, line in zip(rows, axes, strict=True):
            line[0].set_ylabel(row.name)
            line[0].set_ylim(*row.limits)
            for axis in line:
                axis.grid(True, color="#dddddd", linewidth=0.6)
                axis.set_axisbelow(True)
        axes[0][0].set_xlim(0, result.seconds)
        figure.suptitle(title, fontsize=12)
        figure.tight_layout(rect=(0, 0, 1, 0.98))


def answer_row() -> Row:
    """How long each command waited for its answer."""
    return Row("answer to a command [ms]", (LEAST_MS, 2 * UNANSWERED_MS), _answers)


def height_row(result: PairResult) -> Row:
    """What the ground shows, and the vehicle's own."""
    return Row("altitude shown [m]", most(result, "real_m", 2.0), _height)


def _answers(axis: Any, flight: Flight, colour: str) -> None:
    came = [each for each in flight.answers if each["after_ms"] is not None]
    never = [each for each in flight.answers if each["after_ms"] is None]
    axis.scatter([each["t"] for each in came], [each["after_ms"] for each in came], s=22, color=colour)
    axis.scatter([each["t"] for each in never], [UNANSWERED_MS] * len(never), s=40, color=colour, marker="x")
    axis.axhline(PROMPT_MS, color="#666666", linestyle="--", linewidth=0.9)
    axis.set_yscale("log")
    axis.text(0.01, 0.02, "dashed: asked again; x: no answer", transform=axis.transAxes, fontsize=7.5, color="#444444")
    say(
        axis,
        f"{flight.prompt} of {len(flight.answers)} within 1 s, median {milliseconds(flight.median_answer_ms)}",
        0.24,
    )


def _height(axis: Any, flight: Flight, colour: str) -> None:
    rows = flight.samples
    axis.plot([each["t"] for each in rows], [each["real_m"] for each in rows], color="#888888", linestyle=":")
    rows = [each for each in rows if each["altitude_m"] is not None]
    axis.plot([each["t"] for each in rows], [each["altitude_m"] for each in rows], color=colour, linewidth=1.6)
    axis.text(0.01, 0.9, "dotted: the vehicle's own", transform=axis.transAxes, fontsize=7.5, color="#444444")


def say(axis: Any, text: str, height: float = 0.93) -> None:
    """Words in a box at the right."""
    box = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": "#bbbbbb", "lw": 0.6}
    axis.text(0.985, height, text, transform=axis.transAxes, fontsize=9, ha="right", va="top", bbox=box)
