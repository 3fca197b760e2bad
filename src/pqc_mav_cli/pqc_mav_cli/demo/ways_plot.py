# SPDX-License-Identifier: Apache-2.0
"""The picture of the two ways: the flight by LTE, by a radio and by both, on the same scales."""

from pathlib import Path
from typing import Any

from pqc_mav_cli.demo.pair import Flight, per_second
from pqc_mav_cli.demo.pair_plot import Row, answer_row, draw_rows, height_row, say
from pqc_mav_cli.demo.radio_plot import rate_of
from pqc_mav_cli.demo.ways_flight import LTE_OUT, RADIO_FADES
from pqc_mav_cli.demo.ways_result import BOTH, LTE, WaysResult, longest_age_s

SHADES = {"lte": "#fddbc7", "radio": "#d1e5f0"}
OLDEST_S = 6.0


def draw(result: WaysResult, path: Path) -> None:
    """Writes the picture as PNG; the file appears when it is complete. Raises CliError."""
    rates = [rate for flight in result.flights for _, rate in rate_of(flight, "received")]
    age = Row("age of the shown altitude [s]", (0.0, OLDEST_S), _age)
    rows = (
        _shaded(answer_row()),
        _shaded(Row("messages a second", (-2.0, 1.3 * max([10.0, *rates])), _messages)),
        _shaded(age),
        _shaded(height_row(result)),
    )
    title = (
        "The same flight by LTE alone, by a radio alone and by both in one session\n"
        "red: LTE is out; blue: the radio fades. Simulated: vehicle, LTE, radio; real: both ends of the tunnel"
    )
    draw_rows(result, path, rows, _said, title)


def _shaded(row: Row) -> Row:
    """With the bad times of the ways that the flight has."""

    def draw_with(axis: Any, flight: Flight, colour: str) -> None:
        for way, times in (("lte", LTE_OUT), ("radio", RADIO_FADES)):
            if flight.name == BOTH or (flight.name == LTE) == (way == "lte"):
                for begin, end in times:
                    axis.axvspan(begin, end, color=SHADES[way], linewidth=0)
        row.draw(axis, flight, colour)

    return Row(row.name, row.limits, draw_with)


def _said(flight: Flight) -> str:
    return f"{flight.prompt} of {len(flight.answers)} commands answered in 1 s"


def _messages(axis: Any, flight: Flight, colour: str) -> None:
    rows = rate_of(flight, "received")
    axis.plot([t for t, _ in rows], [rate for _, rate in rows], color=colour, linewidth=1.4)
    say(axis, f"{per_second(flight)} at the ground")


def _age(axis: Any, flight: Flight, colour: str) -> None:
    rows = [each for each in flight.samples if each["age_s"] is not None]
    axis.plot(
        [each["t"] for each in rows], [min(each["age_s"], OLDEST_S) for each in rows], color=colour, linewidth=1.2
    )
    oldest = longest_age_s(flight)
    if oldest is not None:
        say(axis, f"{oldest:.1f} s at worst")
