# SPDX-License-Identifier: Apache-2.0
"""The picture of the thin link: both flights side by side, on the same scales."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pqc_mav_cli.demo.picture import picture
from pqc_mav_cli.demo.thin_result import PROMPT_MS, ThinFlight, ThinLinkResult, loaded, milliseconds

COLOURS = ("#b2182b", "#1b7837")
LEAST_MS = 5.0
UNANSWERED_MS = 15_000.0  # drawn above every answer


def _most(result: ThinLinkResult, name: str, least: float) -> tuple[float, float]:
    """From just below 0 to above all values of both flights."""
    values = [each[name] for flight in result.flights for each in flight.samples if each[name] is not None]
    most = 1.12 * max([least, *values])
    return -0.02 * most, most


# the rows of the picture, and from where to where each goes
_LIMITS: dict[str, Callable[[ThinLinkResult], tuple[float, float]]] = {
    "answer to a command [ms]": lambda _: (LEAST_MS, 2 * UNANSWERED_MS),
    "age of the altitude\nthat is shown [s]": lambda result: _most(result, "age_s", 1.0),
    "parameters loaded": lambda result: _most(result, "params", 10.0),
    "altitude shown [m]": lambda result: _most(result, "real_m", 2.0),
}


def draw(result: ThinLinkResult, path: Path) -> None:
    """Writes the picture as PNG; the file appears when it is complete. Raises CliError."""
    with picture(path, 4, 2, figsize=(12, 10), sharex=True, sharey="row") as (figure, axes):
        for column, (flight, colour) in enumerate(zip(result.flights, COLOURS, strict=True)):
            _answers(axes[0][column], flight, colour)
            _age(axes[1][column], flight, colour)
            _parameters(axes[2][column], flight, colour)
            _height(axes[3][column], flight, colour)
            axes[0][column].set_title(f"{flight.name}: {_arrived(flight)}", fontsize=11)
            axes[3][column].set_xlabel("time of flight [s]")
        for name, row in zip(_LIMITS, axes, strict=True):
            row[0].set_ylabel(name)
            row[0].set_ylim(*_LIMITS[name](result))
            for axis in row:
                axis.grid(True, color="#dddddd", linewidth=0.6)
                axis.set_axisbelow(True)
        axes[0][0].set_xlim(0, result.seconds)
        figure.suptitle(
            f"The same flight over {result.rate_kbit} kbit/s, without and with shaping, compact headers and bundles\n"
            "simulated: vehicle and link; real: both ends of the tunnel",
            fontsize=12,
        )
        figure.tight_layout(rect=(0, 0, 1, 0.98))


def _arrived(flight: ThinFlight) -> str:
    if flight.summary is None or not flight.summary["sent"]:
        return "no report"
    return f"{100 * flight.summary['received'] / flight.summary['sent']:.0f} % of the messages arrive"


def _answers(axis: Any, flight: ThinFlight, colour: str) -> None:
    came = [each for each in flight.answers if each["after_ms"] is not None]
    never = [each for each in flight.answers if each["after_ms"] is None]
    axis.scatter([each["t"] for each in came], [each["after_ms"] for each in came], s=22, color=colour)
    axis.scatter([each["t"] for each in never], [UNANSWERED_MS] * len(never), s=40, color=colour, marker="x")
    axis.axhline(PROMPT_MS, color="#666666", linestyle="--", linewidth=0.9)
    axis.set_yscale("log")
    axis.text(0.01, 0.02, "dashed: asked again; x: no answer", transform=axis.transAxes, fontsize=7.5, color="#444444")
    _say(
        axis,
        f"{flight.prompt} of {len(flight.answers)} within 1 s, median {milliseconds(flight.median_answer_ms)}",
        0.24,
    )


def _age(axis: Any, flight: ThinFlight, colour: str) -> None:
    rows = [each for each in flight.samples if each["age_s"] is not None]
    axis.plot([each["t"] for each in rows], [each["age_s"] for each in rows], color=colour, linewidth=1.3)
    if flight.median_age_s is not None:
        _say(axis, f"median {flight.median_age_s:.2f} s")


def _parameters(axis: Any, flight: ThinFlight, colour: str) -> None:
    rows = flight.samples
    axis.plot([each["t"] for each in rows], [each["params"] for each in rows], color=colour, linewidth=1.6)
    _say(axis, loaded(flight))


def _height(axis: Any, flight: ThinFlight, colour: str) -> None:
    rows = flight.samples
    axis.plot([each["t"] for each in rows], [each["real_m"] for each in rows], color="#888888", linestyle=":")
    rows = [each for each in rows if each["altitude_m"] is not None]
    axis.plot([each["t"] for each in rows], [each["altitude_m"] for each in rows], color=colour, linewidth=1.6)

    axis.text(0.01, 0.9, "dotted: the vehicle's own", transform=axis.transAxes, fontsize=7.5, color="#444444")


def _say(axis: Any, text: str, height: float = 0.93) -> None:
    box = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": "#bbbbbb", "lw": 0.6}
    axis.text(0.985, height, text, transform=axis.transAxes, fontsize=9, ha="right", va="top", bbox=box)
