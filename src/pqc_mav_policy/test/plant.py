# SPDX-License-Identifier: Apache-2.0
"""A drone for the properties: telemetry that wanders or jumps at random, a proxy that obeys, fails or takes its time.

Everything comes from one seed, so a failing run can be repeated. Time is simulated; hours pass in a second.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from scenes import CATALOGUE, CORE, DEFAULT, LIGHTEST

from pqc_mav_policy import senses
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.cascade import signs
from pqc_mav_policy.strategy import Strategy
from pqc_mav_policy.telemetry.inputs import (
    Battery,
    DecisionInput,
    Link,
    Outcome,
    Phase,
    Session,
    Thermal,
    Threat,
    TunnelState,
    Vehicle,
)

# Which phase may follow which.
NEXT = {
    Phase.DISARMED: (Phase.TAKEOFF,),
    Phase.TAKEOFF: (Phase.HOVER, Phase.CRUISE),
    Phase.HOVER: (Phase.CRUISE, Phase.LANDING),
    Phase.CRUISE: (Phase.HOVER, Phase.LANDING),
    Phase.LANDING: (Phase.DISARMED, Phase.HOVER),
    Phase.UNKNOWN: (Phase.DISARMED,),
}

# The engine's blacklist_s.
BLACKLIST_S = 1800.0


@dataclass
class Weather:
    """How bad things get: chances per second that a trouble begins; each lasts for some seconds."""

    hot: float = 0.002
    empty: float = 0.0005
    warming: float = 0.004
    sagging: float = 0.004
    lossy: float = 0.004
    gaps: float = 0.004
    outages: float = 0.003
    attack: float = 0.002
    stale: float = 0.004
    lost: float = 0.001  # the session


@dataclass(frozen=True)
class Step:
    """One second of a run."""

    now: float
    inputs: DecisionInput
    decision: Decision
    stressed: bool


@dataclass
class Plant:
    """A run of one strategy. `working` are the suites that the ground station accepts (all by default).

    The engine avoids a refused one for BLACKLIST_S.
    """

    strategy: Strategy[Any]
    seed: int
    parameters: PolicyParameters = field(default_factory=PolicyParameters)
    weather: Weather = field(default_factory=Weather)
    start: str = DEFAULT
    working: Collection[str] = CORE
    available: tuple[str, ...] = CORE
    wanders: bool = True  # through the phases of flight
    configured: str = LIGHTEST
    responses: tuple[str, ...] = ("",)  # what the reports of an attack ask for, one of these at a time

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.now = 1000.0
        self.suite, self.epoch, self.switched = self.start, 0, self.now
        self.state = TunnelState.UP
        self.phase = Phase.DISARMED
        self.troubles: dict[str, float] = {}
        self.pending: tuple[str, float] | None = None
        self.outcomes: list[Outcome] = []
        self.switches: list[tuple[float, Action, str, str]] = []
        self.asked: list[tuple[float, Decision]] = []
        self.blackouts = 0
        self.refused: dict[str, float] = {}
        self._response = ""
        self.memory = self.strategy.initial_state(self.now)

    def run(self, seconds: int) -> list[Step]:
        """That many seconds, one decision each."""
        return [self.second() for _ in range(seconds)]

    def second(self) -> Step:
        """One second: troubles come and go, the proxy answers, the strategy decides."""
        self.now += 1.0
        self._live()
        self._answer()
        inputs = self._snapshot()
        self.outcomes.clear()
        decision, self.memory = self.strategy.decide(inputs, self.memory, self.now)
        if decision.acts:
            self.asked.append((self.now, decision))
            self.pending = (decision.to_suite, self.now + self.random.choice((0.1, 0.1, 0.1, 1.5, 4.0)))
            self._doing = decision
        seen = senses.usable(inputs, self.parameters)
        stressed = bool(
            signs.emergency(seen, self.parameters)
            or signs.bad_link(seen, self.parameters)
            or signs.stress(seen, self.parameters)
        )
        return Step(self.now, inputs, decision, stressed)

    def has(self, trouble: str) -> bool:
        """Whether a trouble is on now."""
        return self.troubles.get(trouble, 0.0) > self.now

    def _live(self) -> None:
        for name, chance in vars(self.weather).items():
            if not self.has(name) and self.random.random() < chance:
                self.troubles[name] = self.now + self.random.choice((1, 2, 3, 6, 15, 40, 120))
                if name == "attack" and self.responses != ("",):
                    self._response = self.random.choice(self.responses)
        if self.wanders and self.random.random() < 0.01:
            self.phase = self.random.choice(NEXT[self.phase])
        if self.has("lost"):
            self.state = self.random.choice((TunnelState.DOWN, TunnelState.HANDSHAKING))
        elif self.state in (TunnelState.DOWN, TunnelState.HANDSHAKING):
            # The engine connects again by itself, with a new session.
            self.state, self.epoch, self.switched = TunnelState.UP, 0, self.now
            self.pending = None
        if self.has("outages") and self.random.random() < 0.5:
            self.blackouts += 1
        elif not self.has("outages"):
            self.blackouts = max(0, self.blackouts - 1)

    def _answer(self) -> None:
        if self.pending is None or self.now < self.pending[1] or self.state is not TunnelState.UP:
            return
        suite, _ = self.pending
        self.pending = None
        ok = suite in self.working
        self.outcomes.append(Outcome(suite, ok, self.now, self.suite, "", "" if ok else "rejected"))
        if not ok:
            self.refused[suite] = self.now + BLACKLIST_S
        if ok:
            self.switches.append((self.now, self._doing.action, self.suite, suite))
            self.suite, self.epoch, self.switched, self.blackouts = suite, self.epoch % 255 + 1, self.now, 0

    def _age(self) -> float:
        return (3.2 if self.has("stale") else 0.9) * self.random.random()

    def _gone(self) -> bool:
        """Whether a sense is lost in this second."""
        return self.has("stale") and self.random.random() < 0.5

    def _snapshot(self) -> DecisionInput:
        noise = self.random.random
        alive = self.state is TunnelState.UP
        return DecisionInput(
            battery=Battery(
                13.5 + 0.4 * noise() if self.has("empty") else 14.1 + 2 * noise(),
                -900 * noise() if self.has("sagging") else -100 * noise(),
                0.2 * noise() if self.has("empty") else 0.2 + 0.8 * noise(),
                self._age(),
                not self._gone(),
                4,
            ),
            thermal=Thermal(
                81 + 9 * noise() if self.has("hot") else 40 + 39 * noise(),
                4 + 4 * noise() if self.has("warming") else 3 * noise(),
                False,
                self._age(),
                not self._gone(),
            ),
            link=Link(
                320.0,
                0.5 + 2 * noise() if self.has("gaps") else 0.01,
                0.1,
                0.001,
                0.3 * noise() if self.has("lossy") else 0.01 * noise(),
                min(self.blackouts, 4),
                self.blackouts,
                self._age(),
                not self._gone(),
            ),
            vehicle=Vehicle(self.phase is not Phase.DISARMED, self.phase, self._age(), not self._gone()),
            session=Session(
                self.state,
                self.suite if alive else "",
                self.epoch if alive else 0,
                self.now - self.switched if alive else None,
                self.switched,
                self.pending[0] if self.pending else None,
            ),
            threat=Threat.ATTACK if self.has("attack") else Threat.NONE,
            threat_response=self._response if self.has("attack") else "",
            outcomes=tuple(self.outcomes),
            available=self.available,
            blacklisted=tuple(name for name, until in self.refused.items() if self.now < until),
            configured_suite=self.configured,
        )


def level(suite: str) -> int:
    """NIST level of a suite."""
    return CATALOGUE[suite].level
