# SPDX-License-Identifier: Apache-2.0
"""The picture of the thin link: both flights side by side, on the same scales."""

from pathlib import Path
from typing import Any

from pqc_mav_cli.demo.pair import Flight
from pqc_mav_cli.demo.pair_plot import Row, answer_row, draw_rows, height_row, most, say
from pqc_mav_cli.demo.thin_result import ThinLinkResult, loaded


def draw(result: ThinLinkResult, path: Path) -> None:
    """Writes the picture as PNG; the file appears when it is complete. Raises CliError."""
    rows = (
        answer_row(),
        Row("age of the altitude\nthat is shown [s]", most(result, "age_s", 1.0), _age),
        Row("parameters loaded", most(result, "params", 10.0), _parameters),
        height_row(result),
    )
    title = (
        f"The same flight over {result.rate_kbit} kbit/s, without and with shaping, compact headers and bundles\n"
        "simulated: vehicle and link; real: both ends of the tunnel"
    )
    draw_rows(result, path, rows, _arrived, title)


def _arrived(flight: Flight) -> str:
    if flight.summary is None or not flight.summary["sent"]:
        return "no report"
    return f"{100 * flight.summary['received'] / flight.summary['sent']:.0f} % of the messages arrive"


def _age(axis: Any, flight: Flight, colour: str) -> None:
    rows = [each for each in flight.samples if each["age_s"] is not None]
    axis.plot([each["t"] for each in rows], [each["age_s"] for each in rows], color=colour, linewidth=1.3)
    if flight.median_age_s is not None:
        say(axis, f"median {flight.median_age_s:.2f} s")


def _parameters(axis: Any, flight: Flight, colour: str) -> None:
    rows = flight.samples
    axis.plot([each["t"] for each in rows], [each["params"] for each in rows], color=colour, linewidth=1.6)
    say(axis, loaded(flight))
