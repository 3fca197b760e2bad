# SPDX-License-Identifier: Apache-2.0
"""What is made of the lines of three flights by two ways, as table and as picture."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from pqc_mav_cli.demo.pair import STEPS, Flight
from pqc_mav_cli.demo.ways_link import summary
from pqc_mav_cli.demo.ways_result import BOTH, LTE, RADIO, WaysResult, longest_age_s, sent_kb_s


def told(name: str, prompt: int = 20, late: int = 0, handshakes: int = 1, flown: bool = True) -> Flight:
    """A flight that has said this."""
    flight = Flight(name)

    def say(kind: str, **values: object) -> None:
        flight.take(json.dumps({"kind": kind, **values}))

    for number, after in enumerate([80.0] * prompt + [None] * late):
        say("answer", t=number, after_ms=after)
    for number in range(30):
        age_s = None if number == 0 else 0.1 * number
        say("sample", t=number / 10, age_s=age_s, altitude_m=1.0, real_m=1.5, params=0, received=9 * number, path="lte")
    for step in STEPS:
        say("step", name=step, ok=flown)
    say("summary", sent=2000, received=400, seconds=10.0)
    say("paths", handshakes=handshakes, sent={"lte": 90_000, "radio": 5_000})
    return flight


def result(both: Flight) -> WaysResult:
    """With flights by one way that go badly."""
    return WaysResult(10.0, (told(LTE, 10, 10, 3, flown=False), told(RADIO, 15, 5), both))


def test_a_flight_by_both_passes_however_bad_the_others_are() -> None:
    assert result(told(BOTH)).passed
    assert result(told(BOTH, 19, 1)).passed


@pytest.mark.parametrize(
    "bad", [told(BOTH, 18, 2), told(BOTH, 0, 0), told(BOTH, handshakes=2), told(BOTH, flown=False), Flight(BOTH)]
)
def test_what_must_not_happen_fails_it(bad: Flight) -> None:
    assert not result(bad).passed


def test_figures_of_a_flight() -> None:
    assert longest_age_s(told(BOTH)) == pytest.approx(2.9)
    assert longest_age_s(Flight(BOTH)) is None
    assert sent_kb_s(told(BOTH), "lte") == 9.0
    assert sent_kb_s(Flight(BOTH), "lte") is None


@pytest.mark.parametrize("both", [told(BOTH), Flight(BOTH)])
def test_the_summary_fits_a_terminal(both: Flight) -> None:
    out = StringIO()
    Console(file=out, width=80).print(summary(result(both)))
    assert all(len(line) <= 80 for line in out.getvalue().splitlines())
    assert "simulated" in out.getvalue()


@pytest.mark.parametrize("both", [told(BOTH), Flight(BOTH)])
def test_it_is_a_picture(both: Flight, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from pqc_mav_cli.demo.ways_plot import draw

    draw(result(both), tmp_path / "ways.png")
    assert (tmp_path / "ways.png").read_bytes().startswith(b"\x89PNG")
