# SPDX-License-Identifier: Apache-2.0
"""`pqcmav demo --scenario thin-link`: one flight twice at a time over 64 kbit/s, with shaping and without."""

from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pqc_mav_cli.demo.output import print_result
from pqc_mav_cli.demo.pair import Flight, arrived, fly_all, milliseconds, seconds
from pqc_mav_cli.demo.thin_flight import RATE_KBIT
from pqc_mav_cli.demo.thin_flight import SHAPED as SETTINGS
from pqc_mav_cli.demo.thin_result import PLAIN, SHAPED, ThinLinkResult, loaded
from pqc_mav_cli.demo.view import verdict
from pqc_mav_cli.ending import INTERRUPTED

NAME = "thin-link"
FLIGHT_S = 40.0


def fly_thin_link(rate_hz: float, plot: str, as_json: bool) -> int:
    """Flies, draws and judges. Returns the exit code. Raises CliError."""
    path = Path(plot or f"pqcmav-demo-{NAME}.png").expanduser()
    flights = (Flight(PLAIN), Flight(SHAPED))
    result = ThinLinkResult(FLIGHT_S, flights, rate_kbit=RATE_KBIT)
    givens = ({"shaped": False, "rate": rate_hz}, {"shaped": True, "rate": rate_hz})
    if not fly_all(result, "pqc_mav_cli.demo.thin_flight", givens):
        return INTERRUPTED
    if all(flight.samples for flight in flights):
        from pqc_mav_cli.demo.thin_plot import draw

        draw(result, path)
        result.plot = str(path)
    said = [(flight.name, line) for flight in flights for line in flight.said]
    return print_result(result, lambda: summary(result), said, as_json)


def summary(result: ThinLinkResult) -> RenderableType:
    """Both flights side by side, and the verdict."""
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        header_style="bold",
        title=f"The same flight over {result.rate_kbit} kbit/s",
    )
    table.add_column("")
    for flight in result.flights:
        table.add_column(flight.name, justify="right")
    plain, shaped = result.flights
    rows = {
        "messages that arrived": [arrived(flight) for flight in result.flights],
        "commands answered within 1 s": [f"{each.prompt} of {len(each.answers)}" for each in (plain, shaped)],
        "half of the answers within": [milliseconds(each.median_answer_ms) for each in (plain, shaped)],
        "shown altitude, median age": [seconds(each.median_age_s) for each in (plain, shaped)],
        "parameters": [loaded(each) for each in (plain, shaped)],
    }
    for name, cells in rows.items():
        table.add_row(name, *cells)
    proved = "shaping keeps a drone on a thin link in hand"
    plot = [Text(f"plot: {result.plot}")] if result.plot else []
    note_text = Text(f"shaped: {_settings()}\nsimulated: vehicle and link; real: both ends of the tunnel", "dim")
    checks, *rest = verdict(result.checks(), result.error, result.passed, proved)
    return Group(table, note_text, Text(""), checks, *plot, *rest)


def _settings() -> str:
    return ", ".join(f"{key}: {str(value).lower()}" for key, value in SETTINGS.items())
