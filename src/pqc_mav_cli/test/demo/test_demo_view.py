# SPDX-License-Identifier: Apache-2.0
import dataclasses
import io
import re
from pathlib import Path

from rich.console import Console
from test_demo_result import good
from test_status_view import view

from pqc_mav_cli.demo import result as demo_result
from pqc_mav_cli.demo import view as demo_view
from pqc_mav_cli.demo.run import DRONE_PROXY, GCS_PROXY, DemoState, FlightPlan

GROUND = {
    "received": 1234,
    "sent": 56,
    "lost": 0,
    "duplicates": 0,
    "downlink_latency": {"p50_us": 310.0, "p99_us": 990.0},
    "ping_rtt": {"p50_us": 520.0, "p99_us": None},
    "vehicle": {
        "heartbeats": 3,
        "mode": "TAKEOFF",
        "armed": True,
        "landed": "IN_AIR",
        "relative_altitude_m": 4.5,
        "battery_v": 16.2,
        "battery_percent": 97,
    },
}


def shown(renderable: object) -> str:
    out = Console(file=io.StringIO(), width=110)
    out.print(renderable)
    return out.file.getvalue()


def state() -> DemoState:
    made = DemoState(phase="flying", duration_s=30.0, flight_began_s=100.0, ground=GROUND, steps={"arm": True})
    made.views = [dataclasses.replace(view(), node=f"/{label}") for label in (DRONE_PROXY, GCS_PROXY)]
    made.handshake = demo_result.Handshake("cs-x", True, 12.3, 1.0, 1, 2)
    return made


def test_live_view_before_anything_is_known() -> None:
    text = shown(demo_view.live(DemoState(duration_s=30.0), 100.0))
    assert "starting" in text and "0 of 30 s" in text


def test_live_view_in_flight() -> None:
    text = shown(demo_view.live(state(), 112.0))
    for words in (
        "12 of 30 s",
        "UP",
        "12.3 ms with X25519",
        "TAKEOFF",
        "in air",
        "4.5 m",
        "97 %",
        "armed",
        "1,234",
        "0.31 ms",
    ):
        assert words in text


def test_plain_lines() -> None:
    assert "starting" in demo_view.plain_line(DemoState(), 0.0)
    line = demo_view.plain_line(state(), 112.0)
    assert "\n" not in line and "12.0 s" in line and "down 1234 lost 0 twice 0" in line and "4.5 m" in line


def test_summary_of_a_good_and_a_bad_demo() -> None:
    text = shown(demo_view.summary(good()))
    assert "PASSED" in text and "FAIL" not in text and "39.0 bytes added" in text
    bad = dataclasses.replace(good(), downlink=None, error="the vehicle fell down")
    text = shown(demo_view.summary(bad))
    assert "FAILED" in text and "the vehicle fell down" in text and "PASSED" not in text


def test_flight_plans_fit_into_their_time() -> None:
    for seconds in (3.0, 8.0, 12.0, 15.0, 30.0, 600.0):
        plan = FlightPlan.for_duration(seconds)
        assert 0 < plan.take_off_s < plan.land_s < seconds
        assert plan.time_to_climb is (seconds >= 15.0)


def test_a_flight_is_as_high_as_its_time_allows() -> None:
    heights = [FlightPlan.for_duration(seconds).altitude_m for seconds in (3.0, 12.0, 15.0, 20.0, 23.0, 30.0, 600.0)]
    assert heights == sorted(heights) and heights[0] == 2.5 and heights[-2:] == [8.0, 8.0]


def test_the_first_page_shows_what_the_demo_says() -> None:
    """Word by word, but for the figures and the two checks that the page leaves out."""
    page = (Path(__file__).parents[4] / "README.md").read_text(encoding="utf-8")
    block = next(each for each in page.split("```") if "PASSED: " in each)
    flown = good()
    assert flown.handshake is not None
    flown.handshake = dataclasses.replace(flown.handshake, suite="cs-mlkem768-aesgcm-mldsa65")
    said = {_without_figures(line) for line in shown(demo_view.summary(flown)).splitlines()}
    promised = [_without_figures(line) for line in block.strip().splitlines() if line]
    assert len(promised) > 5 and promised[-1].startswith("PASSED: ")
    assert not [line for line in promised if line not in said], said


def _without_figures(line: str) -> str:
    words = " ".join(line.split())
    return re.sub(r"ML-[\w-]+", "SUITE", re.sub(r"(?<![\w-])[\d,.]+(?![\w-])", "0", words))
