# SPDX-License-Identifier: Apache-2.0
"""`pqcmav demo --scenario two-ways`: one flight three times at a time, by LTE, by a radio, and by both."""

from rich.console import RenderableType

from pqc_mav_cli.demo.pair import Flight, milliseconds, per_second, seconds
from pqc_mav_cli.demo.pair_view import fly_and_print, side_by_side
from pqc_mav_cli.demo.ways_flight import LTE_OUT, RADIO_FADES
from pqc_mav_cli.demo.ways_plot import draw
from pqc_mav_cli.demo.ways_result import BOTH, LTE, RADIO, WaysResult, longest_age_s, sent_kb_s

NAME = "two-ways"
FLIGHT_S = 46.0
RATE_HZ = 226.0  # what a copter sends unasked (bench/results/autopilots.md)
WAYS = {LTE: ["lte"], RADIO: ["radio"], BOTH: ["lte", "radio"]}


def fly_ways(rate_hz: float | None, plot: str, as_json: bool) -> int:
    """Flies, draws and judges. Returns the exit code. Raises CliError."""
    rate = RATE_HZ if rate_hz is None else rate_hz
    result = WaysResult(FLIGHT_S, tuple(Flight(name) for name in WAYS))
    givens = [{"paths": paths, "rate": rate} for paths in WAYS.values()]
    return fly_and_print(NAME, result, "pqc_mav_cli.demo.ways_flight", givens, (draw, summary), plot, as_json)


def summary(result: WaysResult) -> RenderableType:
    """The flights side by side, and the verdict."""
    flights = result.flights
    rows = {
        "messages a second at the ground": [per_second(each) for each in flights],
        "commands answered within 1 s": [f"{each.prompt} of {len(each.answers)}" for each in flights],
        "half of the answers within": [milliseconds(each.median_answer_ms) for each in flights],
        "shown altitude, greatest age": [seconds(longest_age_s(each)) for each in flights],
        "LTE, up": [_sent(each) for each in flights],
    }
    lost = sum(end - begin for begin, end in LTE_OUT)
    faded = sum(end - begin for begin, end in RADIO_FADES)
    note = (
        f"simulated: vehicle, LTE that is out for {lost:g} s in {len(LTE_OUT)} pieces, a SiK radio that\n"
        f"fades for {faded:g} s; real: both ends of the tunnel."
    )
    proved = "what one way loses the other one brings"
    return side_by_side(result, "The same flight by two ways", rows, note, proved)


def _sent(flight: Flight) -> str:
    value = sent_kb_s(flight, "lte")
    return "-" if value is None else f"{value:.1f} kB/s"
