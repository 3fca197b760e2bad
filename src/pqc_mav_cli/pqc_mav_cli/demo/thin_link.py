# SPDX-License-Identifier: Apache-2.0
"""`pqcmav demo --scenario thin-link`: one flight twice at a time over 64 kbit/s, with shaping and without."""

import asyncio
import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pqc_mav_bringup.child import Child
from pqc_mav_bringup.demo_session import DemoSession
from pqc_mav_bringup.description import BringupError
from pqc_mav_bringup.systems import PORTS
from pqc_mav_cli.console import note
from pqc_mav_cli.demo.output import print_result
from pqc_mav_cli.demo.thin_flight import RATE_KBIT, UP_LIMIT_S
from pqc_mav_cli.demo.thin_flight import SHAPED as SETTINGS
from pqc_mav_cli.demo.thin_result import PLAIN, SHAPED, ThinFlight, ThinLinkResult, loaded, milliseconds
from pqc_mav_cli.demo.view import verdict
from pqc_mav_cli.ending import INTERRUPTED
from pqc_mav_cli.errors import CliError, engine_errors
from pqc_mav_cli.interruptible import run_interruptible

NAME = "thin-link"
FLIGHT_S = 40.0
STARTS_S = 20.0  # for two interpreters on a slow machine


def fly_thin_link(rate_hz: float, plot: str, as_json: bool) -> int:
    """Flies, draws and judges. Returns the exit code. Raises CliError."""
    path = Path(plot or f"pqcmav-demo-{NAME}.png").expanduser()
    flights = (ThinFlight(PLAIN), ThinFlight(SHAPED))
    result = ThinLinkResult(FLIGHT_S, RATE_KBIT, flights)
    with ExitStack() as stack:
        given = []
        for flight in flights:
            try:
                with engine_errors():
                    session = stack.enter_context(DemoSession({}))
            except BringupError as error:
                raise CliError(str(error)) from None
            ports = {name: int(session.values[name]) for name in PORTS}
            keys = session.values["keys"]
            given.append({**ports, "keys": keys, "shaped": flight.name == SHAPED, "seconds": FLIGHT_S, "rate": rate_hz})
        if run_interruptible(_fly(result, [json.dumps(each) for each in given])) is None:
            return INTERRUPTED
    if all(flight.samples for flight in flights):
        from pqc_mav_cli.demo.thin_plot import draw

        draw(result, path)
        result.plot = str(path)
    said = [(flight.name, line) for flight in flights for line in flight.said]
    return print_result(result, lambda: summary(result), said, as_json)


async def _fly(result: ThinLinkResult, given: list[str]) -> ThinLinkResult:
    """Both flights at once, each in a process; every process has ended when this returns."""
    children = []
    try:
        for flight, argument in zip(result.flights, given, strict=True):
            command = [sys.executable, "-m", "pqc_mav_cli.demo.thin_flight", argument]
            children.append(Child(flight.name, command, flight.take, {"PYTHONUNBUFFERED": "1"}))
        end = time.monotonic() + STARTS_S + 2 * UP_LIMIT_S + result.seconds
        while any(child.running() for child in children) and time.monotonic() < end:
            note(progress(result.flights))
            await asyncio.sleep(1.0)
    finally:
        for child, flight in zip(children, result.flights, strict=False):
            flight.exit_code = await child.stop()
    failed = [flight for flight in result.flights if flight.exit_code != 0]
    if failed:
        words = failed[0].said[-1] if failed[0].said else f"exit code {failed[0].exit_code}"
        result.error = f"The flight '{failed[0].name}' failed: {words}"
    return result


def progress(flights: tuple[ThinFlight, ThinFlight]) -> str:
    """Both flights on one line."""
    parts = []
    for flight in flights:
        if not flight.samples:
            parts.append(f"{flight.name}: {'session is up' if flight.up else 'handshake'}")
            continue
        newest = flight.samples[-1]
        age = "-" if newest["age_s"] is None else f"{newest['age_s']:.2f} s"
        parts.append(f"{flight.name}: {age} late, {newest['params']} loaded")
    newest_s = max((flight.samples[-1]["t"] for flight in flights if flight.samples), default=0.0)
    return f"{newest_s:3.0f} s  " + " | ".join(parts)


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


def arrived(flight: ThinFlight) -> str:
    """Messages of the vehicle that came, of those it sent."""
    return "-" if flight.summary is None else f"{flight.summary['received']:,} of {flight.summary['sent']:,}"


def seconds(value: float | None) -> str:
    """`value` with its unit."""
    return "-" if value is None else f"{value:.2f} s"
