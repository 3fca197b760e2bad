# SPDX-License-Identifier: Apache-2.0
"""What is made of the lines of two flights over radios, as table and as picture."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pqc_mav_cli.demo.pair import STEPS, Flight
from pqc_mav_cli.demo.radio_link import summary
from pqc_mav_cli.demo.radio_result import CLEAR, SEALED, RadioResult

RADIOS = {"air_s": 8.5, "wait": {"count": 9, "p95_us": 150e3}, "overflowed": 0, "air_lost": 5, "sent_packets": 100}


def told(name: str, *, read: int, after_ms: tuple[float | None, ...] = (400.0,) * 10, **radios: Any) -> Flight:
    """A flight that has said this."""
    flight = Flight(name)

    def say(kind: str, **values: Any) -> None:
        flight.take(json.dumps({"kind": kind, **values}))

    for number, after in enumerate(after_ms):
        say("answer", t=number, after_ms=after)
    for number in range(30):
        say(
            "sample", t=number / 10, age_s=0.3, altitude_m=1.0, real_m=1.5, params=0, received=number, waiting=9, read=0
        )
    for step in STEPS:
        say("step", name=step, ok=True)
    say("summary", sent=100, received=40, seconds=10.0)
    say("radios", **{**RADIOS, "read": read, **radios})
    return flight


def result(sealed: Flight, read: int = 400) -> RadioResult:
    """With a flight in the clear that goes badly."""
    return RadioResult(10.0, (told(CLEAR, read=read, after_ms=(None, 2000.0)), sealed))


def test_a_sealed_flight_passes_however_bad_the_other_is() -> None:
    assert result(told(SEALED, read=0)).passed
    few_late = told(SEALED, read=0, after_ms=(300.0,) * 8 + (1500.0, None))
    assert result(few_late).passed


def test_what_must_not_happen_fails_it() -> None:
    for bad in (
        told(SEALED, read=1),
        told(SEALED, read=0, after_ms=()),
        told(SEALED, read=0, after_ms=(300.0,) * 7 + (None,) * 3),
        told(SEALED, read=0, wait={"count": 9, "p95_us": 301e3}),
        told(SEALED, read=0, wait={"count": 0, "p95_us": None}),
        Flight(SEALED),
    ):
        assert not result(bad).passed
    assert not result(told(SEALED, read=0), read=0).passed, "a deaf listener proves nothing"


@pytest.mark.parametrize("sealed", [told(SEALED, read=0), Flight(SEALED)])
def test_the_summary_fits_a_terminal(sealed: Flight) -> None:
    out = StringIO()
    Console(file=out, width=80).print(summary(result(sealed)))
    assert all(len(line) <= 80 for line in out.getvalue().splitlines())
    assert "simulated" in out.getvalue()


@pytest.mark.parametrize("sealed", [told(SEALED, read=0), Flight(SEALED)])
def test_it_is_a_picture(sealed: Flight, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from pqc_mav_cli.demo.radio_plot import draw

    draw(result(sealed), tmp_path / "radio.png")
    assert (tmp_path / "radio.png").read_bytes().startswith(b"\x89PNG")
