# SPDX-License-Identifier: Apache-2.0
"""`pqcmav demo --scenario radio`: one flight twice at a time over simulated SiK radios, in the clear and sealed."""

from rich.console import RenderableType

from pqc_mav_cli.demo.pair import Flight, milliseconds, per_second, seconds
from pqc_mav_cli.demo.pair_view import fly_and_print, side_by_side
from pqc_mav_cli.demo.radio_flight import BURST_MS, LOSS, PROFILE
from pqc_mav_cli.demo.radio_plot import draw
from pqc_mav_cli.demo.radio_result import CLEAR, SEALED, RadioResult, read, wait_ms

NAME = "radio"
FLIGHT_S = 40.0
RATE_HZ = 226.0  # what a copter sends unasked (bench/results/autopilots.md); the radio carries less than half


def fly_radio(rate_hz: float | None, plot: str, as_json: bool) -> int:
    """Flies, draws and judges. Returns the exit code. Raises CliError."""
    rate = RATE_HZ if rate_hz is None else rate_hz
    result = RadioResult(FLIGHT_S, (Flight(CLEAR), Flight(SEALED)))
    givens = [{"sealed": sealed, "rate": rate} for sealed in (False, True)]
    return fly_and_print(NAME, result, "pqc_mav_cli.demo.radio_flight", givens, (draw, summary), plot, as_json)


def summary(result: RadioResult) -> RenderableType:
    """Both flights side by side, and the verdict."""
    both = result.flights
    rows = {
        "messages a second at the ground": [per_second(each) for each in both],
        "read by a listener in the air": ["-" if read(each) is None else f"{read(each):,}" for each in both],
        "commands answered within 1 s": [f"{each.prompt} of {len(each.answers)}" for each in both],
        "half of the answers within": [milliseconds(each.median_answer_ms) for each in both],
        "shown altitude, median age": [seconds(each.median_age_s) for each in both],
        "wait in the drone's radio, 95 %": [milliseconds(wait_ms(each)) for each in both],
        "share of the time the air is in use": [_air_used(each) for each in both],
        "air packets lost": [_lost(each) for each in both],
        "bytes the radios had no room for": [_told(each, "overflowed") for each in both],
    }
    note = (
        f"simulated: vehicle, radios ({PROFILE.baud:,} baud, {PROFILE.air_kbit} kbit/s in the air), "
        f"{LOSS:.0%} of\nthe time no air, {BURST_MS:.0f} ms each; real: both ends of the tunnel.\n"
        "In the clear: as a MAVLink router sends it; an autopilot that reads\nRADIO_STATUS would slow its streams."
    )
    proved = "a telemetry radio carries the tunnel, and nobody reads along"
    return side_by_side(result, "The same flight over SiK radios", rows, note, proved)


def _air_used(flight: Flight) -> str:
    if flight.radios is None or flight.summary is None:
        return "-"
    return f"{100 * flight.radios['air_s'] / flight.summary['seconds']:.0f} %"


def _lost(flight: Flight) -> str:
    if flight.radios is None:
        return "-"
    return f"{100 * flight.radios['air_lost'] / max(1, flight.radios['sent_packets']):.1f} %"


def _told(flight: Flight, name: str) -> str:
    return "-" if flight.radios is None else f"{flight.radios[name]:,}"
