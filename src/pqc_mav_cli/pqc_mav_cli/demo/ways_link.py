# SPDX-License-Identifier: Apache-2.0
"""`pqcmav demo --scenario two-ways`: one flight three times at a time, by LTE, by a radio, and by both."""

from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pqc_mav_cli.demo.output import print_result
from pqc_mav_cli.demo.pair import Flight, fly_all, milliseconds, per_second, seconds
from pqc_mav_cli.demo.view import verdict
from pqc_mav_cli.demo.ways_flight import LTE_OUT, RADIO_FADES
from pqc_mav_cli.demo.ways_result import BOTH, LTE, RADIO, WaysResult, longest_age_s, sent_kb_s
from pqc_mav_cli.ending import INTERRUPTED

NAME = "two-ways"
FLIGHT_S = 46.0
RATE_HZ = 226.0  # what a copter sends unasked (bench/results/autopilots.md)
WAYS = {LTE: ["lte"], RADIO: ["radio"], BOTH: ["lte", "radio"]}


def fly_ways(rate_hz: float | None, plot: str, as_json: bool) -> int:
    """Flies, draws and judges. Returns the exit code. Raises CliError."""
    path = Path(plot or f"pqcmav-demo-{NAME}.png").expanduser()
    result = WaysResult(FLIGHT_S, tuple(Flight(name) for name in WAYS))
    rate = RATE_HZ if rate_hz is None else rate_hz
    givens = [{"paths": paths, "rate": rate} for paths in WAYS.values()]
    if not fly_all(result, "pqc_mav_cli.demo.ways_flight", givens):
        return INTERRUPTED
    if all(flight.samples for flight in result.flights):
        from pqc_mav_cli.demo.ways_plot import draw

        draw(result, path)
        result.plot = str(path)
    said = [(flight.name, line) for flight in result.flights for line in flight.said]
    return print_result(result, lambda: summary(result), said, as_json)


def summary(result: WaysResult) -> RenderableType:
    """The flights side by side, and the verdict."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title="The same flight by two ways")
    table.add_column("")
    for flight in result.flights:
        table.add_column(flight.name, justify="right")
    flights = result.flights
    rows = {
        "messages a second at the ground": [per_second(each) for each in flights],
        "commands answered within 1 s": [f"{each.prompt} of {len(each.answers)}" for each in flights],
        "half of the answers within": [milliseconds(each.median_answer_ms) for each in flights],
        "shown altitude, greatest age": [seconds(longest_age_s(each)) for each in flights],
        "LTE, up": [_sent(each) for each in flights],
    }
    for name, cells in rows.items():
        table.add_row(name, *cells)
    plot = [Text(f"plot: {result.plot}")] if result.plot else []
    lost = sum(end - begin for begin, end in LTE_OUT)
    faded = sum(end - begin for begin, end in RADIO_FADES)
    note_text = Text(
        f"simulated: vehicle, LTE that is out for {lost:g} s in {len(LTE_OUT)} pieces, a SiK radio that\n"
        f"fades for {faded:g} s; real: both ends of the tunnel.",
        "dim",
    )
    checks, *rest = verdict(result.checks(), result.error, result.passed, "what one way loses the other one brings")
    return Group(table, note_text, Text(""), checks, *plot, *rest)


def _sent(flight: Flight) -> str:
    value = sent_kb_s(flight, "lte")
    return "-" if value is None else f"{value:.1f} kB/s"
