# SPDX-License-Identifier: Apache-2.0
"""`pqcmav demo --scenario thin-link`: one flight twice at a time over 64 kbit/s, with shaping and without."""

from rich.console import RenderableType

from pqc_mav_cli.demo.pair import Flight, arrived, milliseconds, seconds
from pqc_mav_cli.demo.pair_view import fly_and_print, side_by_side
from pqc_mav_cli.demo.thin_flight import RATE_KBIT
from pqc_mav_cli.demo.thin_flight import SHAPED as SETTINGS
from pqc_mav_cli.demo.thin_plot import draw
from pqc_mav_cli.demo.thin_result import PLAIN, SHAPED, ThinLinkResult, loaded

NAME = "thin-link"
FLIGHT_S = 40.0


def fly_thin_link(rate_hz: float, plot: str, as_json: bool) -> int:
    """Flies, draws and judges. Returns the exit code. Raises CliError."""
    result = ThinLinkResult(FLIGHT_S, (Flight(PLAIN), Flight(SHAPED)), rate_kbit=RATE_KBIT)
    givens = [{"shaped": shaped, "rate": rate_hz} for shaped in (False, True)]
    return fly_and_print(NAME, result, "pqc_mav_cli.demo.thin_flight", givens, (draw, summary), plot, as_json)


def summary(result: ThinLinkResult) -> RenderableType:
    """Both flights side by side, and the verdict."""
    flights = result.flights
    rows = {
        "messages that arrived": [arrived(each) for each in flights],
        "commands answered within 1 s": [f"{each.prompt} of {len(each.answers)}" for each in flights],
        "half of the answers within": [milliseconds(each.median_answer_ms) for each in flights],
        "shown altitude, median age": [seconds(each.median_age_s) for each in flights],
        "parameters": [loaded(each) for each in flights],
    }
    note = f"shaped: {_settings()}\nsimulated: vehicle and link; real: both ends of the tunnel"
    title = f"The same flight over {result.rate_kbit} kbit/s"
    return side_by_side(result, title, rows, note, "shaping keeps a drone on a thin link in hand")


def _settings() -> str:
    return ", ".join(f"{key}: {str(value).lower()}" for key, value in SETTINGS.items())
