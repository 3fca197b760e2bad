# SPDX-License-Identifier: Apache-2.0
"""Flights at the same time that are compared: each in a process, and what they said."""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any

from pqc_mav_bringup.child import Child
from pqc_mav_bringup.demo_session import DemoSession
from pqc_mav_bringup.description import BringupError
from pqc_mav_bringup.systems import PORTS
from pqc_mav_cli.console import note
from pqc_mav_cli.demo.pair_flight import UP_LIMIT_S
from pqc_mav_cli.demo.result import Check
from pqc_mav_cli.errors import CliError, engine_errors
from pqc_mav_cli.interruptible import run_interruptible

STEPS = ("arm", "take off", "land")
PROMPT_MS = 1000.0  # ground software repeats a command after this time
STARTS_S = 20.0  # for two interpreters on a slow machine


@dataclass
class Flight:
    """One flight, filled line by line."""

    name: str
    samples: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    parameters: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None
    radios: dict[str, Any] | None = None
    paths: dict[str, Any] | None = None
    up: bool = False
    exit_code: int | None = None
    said: list[str] = field(default_factory=list)

    def take(self, line: str) -> None:
        """One line of the flight's output."""
        try:
            message = json.loads(line)
            kind = message.pop("kind")
        except (ValueError, KeyError, TypeError, AttributeError):
            self.said.append(line)
            return
        if kind == "up":
            self.up = True
        elif kind == "sample":
            self.samples.append(message)
        elif kind == "answer":
            self.answers.append(message)
        elif kind == "step":
            self.steps[message["name"]] = message
        elif kind in ("parameters", "summary", "radios", "paths"):
            setattr(self, kind, message)

    @property
    def answered(self) -> list[float]:
        """Milliseconds to each answer that came."""
        return [each["after_ms"] for each in self.answers if each["after_ms"] is not None]

    @property
    def prompt(self) -> int:
        """Answers that came before ground software would have asked again."""
        return sum(after < PROMPT_MS for after in self.answered)

    @property
    def ages_s(self) -> list[float]:
        """Of the shown altitude, once there was one."""
        return [each["age_s"] for each in self.samples if each["age_s"] is not None]

    @property
    def median_age_s(self) -> float | None:
        """Half of the time the shown altitude was younger."""
        return statistics.median(self.ages_s) if self.ages_s else None

    @property
    def median_answer_ms(self) -> float | None:
        """Half of the answers came sooner."""
        return statistics.median(self.answered) if self.answered else None

    @property
    def flew(self) -> bool:
        """Every command of the flight was accepted."""
        return all(self.steps.get(name, {}).get("ok") for name in STEPS)


@dataclass
class PairResult:
    """Those for comparison, and last the one of which something is asked. `plot`: where the picture is."""

    seconds: float
    flights: tuple[Flight, ...]
    error: str = ""
    plot: str = ""

    def checks(self) -> list[Check]:
        """The verdict in lines; what all pairs have in common."""
        said = "; ".join(f"{flight.name}: {'flown' if flight.summary else 'no report'}" for flight in self.flights)
        flew = self.flights[-1].flew
        return [
            Check("all flew", all(flight.summary is not None for flight in self.flights), said),
            Check("flight", flew, "took off and landed as commanded" if flew else "a command failed"),
        ]

    @property
    def passed(self) -> bool:
        """The verdict."""
        return not self.error and all(check.ok is not False for check in self.checks())

    def as_json(self) -> dict[str, Any]:
        """Everything, for scripts."""
        own = {key: value for key, value in vars(self).items() if key != "flights"}
        checks, flights = [asdict(check) for check in self.checks()], [asdict(flight) for flight in self.flights]
        return {"passed": self.passed, **own, "checks": checks, "flights": flights}


def fly_all(result: PairResult, module: str, givens: Sequence[dict[str, Any]]) -> bool:
    """Flies all at once in processes of `module`, with fresh keys and free ports. Returns whether it was not
    interrupted. Raises CliError."""
    with ExitStack() as stack:
        arguments = []
        for given in givens:
            try:
                with engine_errors():
                    session = stack.enter_context(DemoSession({}))
            except BringupError as error:
                raise CliError(str(error)) from None
            ports = {name: int(session.values[name]) for name in PORTS}
            own = {"keys": session.values["keys"], "seconds": result.seconds}
            arguments.append(json.dumps({**ports, **own, **given}))
        return run_interruptible(_fly(result, module, arguments)) is not None


async def _fly(result: PairResult, module: str, given: list[str]) -> PairResult:
    """All flights at once, each in a process; every process has ended when this returns."""
    children = []
    try:
        for flight, argument in zip(result.flights, given, strict=True):
            command = [sys.executable, "-m", module, argument]
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


def progress(flights: Sequence[Flight]) -> str:
    """All flights on one line."""
    parts = []
    for flight in flights:
        if not flight.samples:
            parts.append(f"{flight.name}: {'session is up' if flight.up else 'handshake'}")
            continue
        newest = flight.samples[-1]
        age = "-" if newest["age_s"] is None else f"{newest['age_s']:.2f} s"
        parts.append(f"{flight.name}: {age} late, {newest['received']:,} came")
    newest_s = max((flight.samples[-1]["t"] for flight in flights if flight.samples), default=0.0)
    return f"{newest_s:3.0f} s  " + " | ".join(parts)


def arrived(flight: Flight) -> str:
    """Messages of the vehicle that came, of those it sent."""
    return "-" if flight.summary is None else f"{flight.summary['received']:,} of {flight.summary['sent']:,}"


def per_second(flight: Flight) -> str:
    """Messages of the vehicle a second that came."""
    return "-" if flight.summary is None else f"{flight.summary['received'] / flight.summary['seconds']:.0f}/s"


def seconds(value: float | None) -> str:
    """`value` with its unit."""
    return "-" if value is None else f"{value:.2f} s"


def milliseconds(value: float | None) -> str:
    """`value` with its unit."""
    return "-" if value is None else f"{value:.0f} ms"
