# SPDX-License-Identifier: Apache-2.0
"""The picture of the radios: the flight in the clear and the sealed one, on the same scales."""

from pathlib import Path
from typing import Any

from pqc_mav_cli.demo.pair import Flight, per_second
from pqc_mav_cli.demo.pair_plot import Row, answer_row, draw_rows, height_row, most, say
from pqc_mav_cli.demo.radio_flight import BURST_MS, LOSS, PROFILE
from pqc_mav_cli.demo.radio_result import RadioResult, wait_ms

WINDOW = 10  # samples: a second


def draw(result: RadioResult, path: Path) -> None:
    """Writes the picture as PNG; the file appears when it is complete. Raises CliError."""
    rates = [rate for flight in result.flights for name in ("received", "read") for _, rate in rate_of(flight, name)]
    rows = (
        answer_row(),
        Row("messages a second", (-2.0, 1.3 * max([10.0, *rates])), _messages),
        Row("bytes that wait in\nthe drone's radio", most(result, "waiting", 100.0), _waiting),
        height_row(result),
    )
    title = (
        "The same flight over a pair of SiK radios, in the clear and sealed "
        f"({PROFILE.baud:,} baud, {PROFILE.air_kbit} kbit/s, {LOSS:.0%} of the time {BURST_MS:.0f} ms without air)\n"
        "simulated: vehicle and radios; real: both ends of the tunnel"
    )
    draw_rows(result, path, rows, _said, title)


def _said(flight: Flight) -> str:
    read = "no report" if flight.radios is None else f"{flight.radios['read']:,} messages"
    return f"a listener reads {read}"


def rate_of(flight: Flight, name: str) -> list[tuple[float, float]]:
    """Times, and how much a second a counter of the samples grew."""
    pairs = zip(flight.samples, flight.samples[WINDOW:], strict=False)
    return [(b["t"], (b[name] - a[name]) / (b["t"] - a["t"])) for a, b in pairs if b["t"] > a["t"]]


def _messages(axis: Any, flight: Flight, colour: str) -> None:
    for name, style, label in (("received", "-", "at the ground"), ("read", ":", "read by a listener")):
        rows = rate_of(flight, name)
        shade = colour if name == "received" else "#333333"
        axis.plot([t for t, _ in rows], [rate for _, rate in rows], style, color=shade, linewidth=1.4, label=label)
    axis.legend(loc="lower right", fontsize=8, ncols=2)
    say(axis, f"{per_second(flight)} at the ground")


def _waiting(axis: Any, flight: Flight, colour: str) -> None:
    rows = flight.samples
    axis.plot([each["t"] for each in rows], [each["waiting"] for each in rows], color=colour, linewidth=1.0)
    axis.axhline(PROFILE.buffer, color="#666666", linestyle="--", linewidth=0.9)
    waited = wait_ms(flight)
    if waited is not None:
        say(axis, f"95 % within {waited:.0f} ms", 0.5)
    axis.text(0.01, 0.8, "dashed: its room", transform=axis.transAxes, fontsize=7.5, color="#444444")
