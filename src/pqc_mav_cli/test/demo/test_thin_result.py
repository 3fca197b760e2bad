# SPDX-License-Identifier: Apache-2.0
"""What is made of the lines of two flights over a thin link."""

from __future__ import annotations

import json
from typing import Any

from pqc_mav_cli.demo.pair import STEPS, Flight, progress
from pqc_mav_cli.demo.thin_link import summary
from pqc_mav_cli.demo.thin_result import PLAIN, SHAPED, ThinLinkResult, loaded


def told(name: str, *, after_ms: list[float | None], loads: bool = True, steps: tuple[str, ...] = STEPS) -> Flight:
    """A flight that has said these answers, and how its parameters and commands went."""
    flight = Flight(name)

    def say(kind: str, **values: Any) -> None:
        flight.take(json.dumps({"kind": kind, **values}))

    say("up", text="")
    for number, after in enumerate(after_ms):
        say("answer", t=number, after_ms=after)
        say("sample", t=number, age_s=0.1 * (number + 1), altitude_m=1.0, real_m=1.5, params=number, received=number)
    for step in steps:
        say("step", name=step, ok=True)
    if loads:
        say("parameters", t=8.0, count=135, after_s=1.1)
    say("summary", sent=100, received=40, seconds=3.0)
    flight.exit_code = 0
    return flight


def result(shaped: Flight) -> ThinLinkResult:
    """With an unshaped flight that goes as badly as it does."""
    return ThinLinkResult(
        3.0, (told(PLAIN, after_ms=[2000.0, None], loads=False, steps=("arm",)), shaped), rate_kbit=64
    )


def test_a_good_shaped_flight_passes_however_bad_the_other_is() -> None:
    good = result(told(SHAPED, after_ms=[40.0, 50.0, 60.0]))
    assert good.passed
    assert good.flights[1].median_answer_ms == 50.0
    assert good.flights[0].prompt == 0
    assert loaded(good.flights[0]) == "1 until the end"
    assert json.loads(json.dumps(good.as_json()))["passed"] is True


def test_what_must_not_happen_with_shaping_fails_it() -> None:
    for bad in (
        told(SHAPED, after_ms=[40.0, None]),
        told(SHAPED, after_ms=[40.0, 1200.0]),
        told(SHAPED, after_ms=[]),
        told(SHAPED, after_ms=[40.0], loads=False),
        told(SHAPED, after_ms=[40.0], steps=("arm", "take off")),
    ):
        assert not result(bad).passed
    broken = result(told(SHAPED, after_ms=[40.0]))
    broken.error = "The flight 'shaped' failed: exit code 1"
    assert not broken.passed


def test_other_lines_are_kept_as_what_was_said() -> None:
    flight = Flight(SHAPED)
    for line in ("No session within 30 s", "[1, 2]", '{"values": 1}', "{", "17"):
        flight.take(line)
    assert flight.said == ["No session within 30 s", "[1, 2]", '{"values": 1}', "{", "17"]
    assert not flight.samples


def test_progress_and_summary_fit_a_terminal() -> None:
    from io import StringIO

    from rich.console import Console

    whole = result(told(SHAPED, after_ms=[40.0]))
    assert len(progress(whole.flights)) <= 80
    assert "handshake" in progress((Flight(PLAIN), Flight(SHAPED)))
    out = StringIO()
    Console(file=out, width=80).print(summary(whole))
    text = out.getvalue()
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "PASSED" in text and "simulated" in text
