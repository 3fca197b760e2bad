# SPDX-License-Identifier: Apache-2.0
"""What the two flights over a thin link showed, and the verdict. Pure: made from the flights' JSON lines."""

import json
import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

from pqc_mav_cli.demo.result import Check

STEPS = ("arm", "take off", "land")
PROMPT_MS = 1000.0  # ground software repeats a command after this time
PLAIN, SHAPED = "as it comes", "shaped"


@dataclass
class ThinFlight:
    """One flight, filled line by line."""

    name: str
    samples: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    parameters: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None
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
        elif kind == "parameters":
            self.parameters = message
        elif kind == "summary":
            self.summary = message

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
class ThinLinkResult:
    """Both flights. `plot`: where the picture is."""

    seconds: float
    rate_kbit: int
    flights: tuple[ThinFlight, ThinFlight]
    error: str = ""
    plot: str = ""

    def checks(self) -> list[Check]:
        """The verdict in lines: what must hold is asked of the shaped flight; the other one is for comparison."""
        plain, shaped = self.flights
        count = len(shaped.answers)
        return [
            Check("both flew", plain.summary is not None and shaped.summary is not None, self._flown()),
            Check("flight", shaped.flew, "took off and landed as commanded" if shaped.flew else "a command failed"),
            Check(
                "commands",
                count > 0 and shaped.prompt == count,
                f"{shaped.prompt} of {count} answered within {PROMPT_MS / 1000:g} s; "
                f"unshaped {plain.prompt} of {len(plain.answers)}",
            ),
            Check(
                "parameters",
                shaped.parameters is not None,
                f"{loaded(shaped)}; unshaped {loaded(plain)}",
            ),
        ]

    def _flown(self) -> str:
        return "; ".join(f"{flight.name}: {'flown' if flight.summary else 'no report'}" for flight in self.flights)

    @property
    def passed(self) -> bool:
        """The verdict."""
        return not self.error and all(check.ok is not False for check in self.checks())

    def as_json(self) -> dict[str, Any]:
        """Everything, for scripts."""
        return {
            "passed": self.passed,
            "error": self.error,
            "seconds": self.seconds,
            "rate_kbit": self.rate_kbit,
            "plot": self.plot,
            "checks": [asdict(check) for check in self.checks()],
            "flights": [asdict(flight) for flight in self.flights],
        }


def loaded(flight: ThinFlight) -> str:
    """How the download of the parameters went."""
    if flight.parameters is not None:
        return f"{flight.parameters['count']} in {flight.parameters['after_s']:.1f} s"
    came = max((each["params"] for each in flight.samples), default=0)
    return f"{came} until the end"


def milliseconds(value: float | None) -> str:
    """`value` with its unit."""
    return "-" if value is None else f"{value:.0f} ms"
