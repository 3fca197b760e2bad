# SPDX-License-Identifier: Apache-2.0
"""The telemetry-aware cascade: nine rules in strict order; the first that matches decides ([pqcmav-paper] IV)."""

from dataclasses import replace

from pqc_mav_policy import memory as memories
from pqc_mav_policy import senses
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.memory import Memory
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.settings import Settings
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade import rules
from pqc_mav_policy.strategy import Strategy
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy.telemetry.inputs import DecisionInput


class Cascade:
    """The published strategy."""

    name = "cascade"

    def __init__(self, catalogue: Catalogue, parameters: PolicyParameters) -> None:
        self.parameters = parameters
        self.ladder = Ladder(catalogue, parameters.order)

    def initial_state(self, now: float) -> Memory:
        """Nothing seen yet; calm is counted from `now`."""
        return memories.begin(now)

    def decide(self, inputs: DecisionInput, state: Memory, now: float) -> tuple[Decision, Memory]:
        """The first matching rule's decision."""
        inputs = senses.usable(inputs, self.parameters)
        memory = memories.observe(inputs, state, self.parameters, now)
        situation = Situation(inputs, memory, self.parameters, self.ladder, now)
        decision = situation.no_lower(rules.decide)
        return decision, settle(decision, memory)


def settle(decision: Decision, memory: Memory) -> Memory:
    """What a decision leaves behind: where a rollback leads, so that what it leaves is abandoned once it is left."""
    return replace(memory, rolling_to=decision.to_suite) if decision.action is Action.ROLLBACK else memory


def make(catalogue: Catalogue, settings: Settings) -> Strategy[Memory]:
    """The cascade with the given thresholds."""
    return Cascade(catalogue, settings.policy)
