# SPDX-License-Identifier: Apache-2.0
"""Flies a mission under a strategy: snapshot, decision, session, once a second. No clock but the mission's time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pqc_mav_policy.decision import Decision
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy.telemetry.inputs import DecisionInput, Session, Threat
from pqc_mav_policy_lab.flight_model.conditions import Conditions
from pqc_mav_policy_lab.flight_model.costs import Costs
from pqc_mav_policy_lab.flight_model.session import SecondOfWork, SessionModel
from pqc_mav_policy_lab.missions.recorded import RecordedWorld
from pqc_mav_policy_lab.missions.simulated import MissionWorld

# Blackouts this shortly before a switch count as caused by it, too: by the transfer of its handshake.
NEAR_BEFORE_S = 2.0
NEAR_AFTER_S = 30.0  # default of the parameter near_switch_s


@dataclass(frozen=True)
class Second:
    """One second of a flight: what was seen, what was decided, and what the handshakes did after it."""

    index: int
    inputs: DecisionInput
    decision: Decision
    work: SecondOfWork
    conditions: Conditions
    power_w: float


class Simulation:
    """A drone with its tunnel on one mission, to be stepped by the caller that decides."""

    def __init__(
        self,
        world: MissionWorld | RecordedWorld,
        suite: str,
        available: Sequence[str],
        catalogue: Catalogue,
        costs: Costs,
        configured: str = "",
    ) -> None:
        """`configured`: the proxy's own suite; "" = one of the lowest level, so that strategies may use every level, as
        in the documents."""
        self.world = world
        self.session = SessionModel(suite, catalogue, costs)
        self._available = tuple(available)
        lowest = min(self._available, key=lambda name: catalogue[name].level, default="")
        self._configured = configured or lowest
        self._readings, self._link = world.sense(0, 0.0, 0.0, None)
        self.index = 0

    @property
    def done(self) -> bool:
        """Whether the mission is over."""
        return self.index >= self.world.seconds - 1

    @property
    def power_w(self) -> float:
        """Power of the drone's computer [W]."""
        return self._readings.power_w

    def inputs(self) -> DecisionInput:
        """The snapshot of this second. Takes the session's answers: once a second only."""
        conditions = self.world.conditions(self.index)
        session: Session = self.session.session(float(self.index))
        return DecisionInput(
            missing=self._readings.missing,
            battery=self._readings.battery,
            thermal=self._readings.thermal,
            link=self._link,
            vehicle=self._readings.vehicle,
            system=self._readings.system,
            session=session,
            threat=Threat(conditions.threat),
            threat_kind=conditions.threat_kind,
            threat_response=conditions.threat_response,
            outcomes=self.session.take_outcomes(),
            available=self._available,
            configured_suite=self._configured,
        )

    def advance(self, decision: Decision) -> SecondOfWork:
        """Does what was decided and lets a second pass."""
        now = float(self.index)
        if decision.acts:
            self.session.request(decision.to_suite, now)
        work = self.session.step(self.world.conditions(self.index), now, self.world.throttled)
        self.index += 1
        switch = self.session.last_switch_s
        near = None if switch is None or self.index - switch > NEAR_AFTER_S else switch - NEAR_BEFORE_S
        self._readings, self._link = self.world.sense(self.index, work.computing_s, work.transferring_s, near)
        return work


def fly(simulation: Simulation, strategy: Any) -> list[Second]:
    """The whole mission under one strategy (see strategy.Strategy)."""
    state = strategy.initial_state(float(simulation.index))
    flight: list[Second] = []
    while not simulation.done:
        index = simulation.index
        inputs = simulation.inputs()
        decision, state = strategy.decide(inputs, state, float(index))
        conditions, power = simulation.world.conditions(index), simulation.power_w
        flight.append(Second(index, inputs, decision, simulation.advance(decision), conditions, power))
    return flight
