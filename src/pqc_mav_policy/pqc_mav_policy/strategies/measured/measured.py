# SPDX-License-Identifier: Apache-2.0
"""The strongest suite whose handshake, as measured on this machine and link, fits the budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from pqc_mav_policy import alarms, senses
from pqc_mav_policy import memory as memories
from pqc_mav_policy.alarms import Alarm
from pqc_mav_policy.decision import Condition, Decision
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.memory import Memory
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.settings import Settings
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade.cascade import settle
from pqc_mav_policy.strategies.measured import explain
from pqc_mav_policy.strategies.measured.costs import CostModel, Seen, cost_model
from pqc_mav_policy.strategies.measured.rules import ALARM, View, decide
from pqc_mav_policy.strategy import Strategy
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy.telemetry.inputs import DecisionInput


@dataclass(frozen=True)
class MeasuredState:
    """The cascade's memory, handshake times, when a stronger suite was last asked for [s], and what a detector
    asks for."""

    memory: Memory
    seen: Seen = ()
    climbed_s: float | None = None
    alarm: Alarm = alarms.NONE


class Measured:
    """The default strategy."""

    name = "measured"

    def __init__(self, catalogue: Catalogue, parameters: PolicyParameters, costs: CostModel) -> None:
        self.parameters = parameters
        self.costs = costs
        self.ladder = Ladder(catalogue, parameters.order)

    def initial_state(self, now: float) -> MeasuredState:
        """Nothing seen yet; calm is counted from `now`."""
        return MeasuredState(memories.begin(now))

    def decide(self, inputs: DecisionInput, state: MeasuredState, now: float) -> tuple[Decision, MeasuredState]:
        """The first matching rule's decision."""
        inputs = senses.usable(inputs, self.parameters)
        memory = memories.observe(inputs, state.memory, self.parameters, now)
        seen = self.costs.note(state.seen, inputs.outcomes, now)
        it = Situation(inputs, memory, self.parameters, self.ladder, now)
        alarm = alarms.observe(state.alarm, inputs, now)
        decision = it.no_lower(lambda each: decide(View(each, self.costs, seen, state.climbed_s, alarm)))
        climbed = now if decision.guard == "climb" and decision.acts else state.climbed_s
        alarm = alarms.settle(alarm, decision, ALARM, now)
        return decision, MeasuredState(settle(decision, memory), seen, climbed, alarm)

    def conditions(self, inputs: DecisionInput, state: object, now: float) -> Sequence[Condition]:
        """Budget, costs and times of the rules, after the decision that left `state`; none without a session."""
        if not isinstance(state, MeasuredState) or inputs.session.suite not in self.ladder.catalogue:
            return ()
        it = Situation(senses.usable(inputs, self.parameters), state.memory, self.parameters, self.ladder, now)
        return explain.conditions(View(it, self.costs, state.seen, state.climbed_s, state.alarm))


def make(catalogue: Catalogue, settings: Settings) -> Strategy[MeasuredState]:
    """For settings.STRATEGIES. Raises PerformanceError."""
    table = settings.performance() if settings.performance_file is not None else None
    return Measured(catalogue, settings.policy, cost_model(catalogue, settings.measured, table))
