# SPDX-License-Identifier: Apache-2.0
"""The learned strategy: the best safe choice by a trained table, under the cascade's protection."""

from dataclasses import dataclass, replace

from pqc_mav_policy import memory as memories
from pqc_mav_policy import senses
from pqc_mav_policy.decision import Decision
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.memory import Memory
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.settings import Settings, StrategyError
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade.cascade import settle
from pqc_mav_policy.strategies.cascade.rules import decide, protect
from pqc_mav_policy.strategies.rl import safe as rl_safe
from pqc_mav_policy.strategies.rl.state import Choice, encode, in_words
from pqc_mav_policy.strategies.rl.table import Table, TableError, read, shipped
from pqc_mav_policy.strategy import Strategy
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy.telemetry.inputs import DecisionInput

# Seconds from one choice to the next; the table was trained at this pace.
CHOOSE_EVERY_S = 5.0


@dataclass(frozen=True)
class Learned:
    """The cascade's memory, and when the next choice is due [s]."""

    memory: Memory
    next_choice_s: float


class RlStrategy:
    """Tabular Q-learning; see rl_train for how the table came about."""

    name = "rl"

    def __init__(self, catalogue: Catalogue, parameters: PolicyParameters, table: Table | None = None) -> None:
        """Without a `table`, the one that comes with the package is used. Raises TableError when that is unusable."""
        self.parameters = parameters
        self.ladder = Ladder(catalogue, parameters.order)
        self.table = shipped() if table is None else table

    def initial_state(self, now: float) -> Learned:
        """Nothing seen yet."""
        return Learned(memories.begin(now), now)

    def decide(self, inputs: DecisionInput, state: Learned, now: float) -> tuple[Decision, Learned]:
        """The cascade's protection where it decides, else the best safe choice every few seconds."""
        inputs = senses.usable(inputs, self.parameters)
        memory = memories.observe(inputs, state.memory, self.parameters, now)
        it = Situation(inputs, memory, self.parameters, self.ladder, now)
        due = now >= state.next_choice_s
        following = now + CHOOSE_EVERY_S if due and protect(it) is None else state.next_choice_s

        def decided(it: Situation) -> Decision:
            wait = f"Holding: the next choice is due in {state.next_choice_s - now:.0f} s."
            return protect(it) or (self.choose(it) if due else it.hold("rl", 0, wait))

        decision = it.no_lower(decided)
        return decision, replace(state, memory=settle(decision, memory), next_choice_s=following)

    def choose(self, it: Situation) -> Decision:
        """The safe choice of the highest learned value; the cascade decides where nothing was learned."""
        safe = rl_safe.choices(it)
        state = encode(it)
        known = {choice: value for choice in safe if (value := self.table.value(state, choice)) is not None}
        if not known:
            return decide(it)
        # With equal values, the choice that changes less; it comes first.
        best = max(known, key=lambda choice: (known[choice], -choice))
        others = [choice for choice in known if choice is not best]
        second = max(others, key=lambda choice: known[choice]) if others else None
        against = "" if second is None else f", {_words(second)} {known[second]:.2f}"
        reason = f"Learned value of {_words(best)} {known[best]:.2f}{against} ({in_words(state)})."
        if best is Choice.HOLD:
            return it.hold("rl", 0, reason)
        return rl_safe.decision(it, safe[best], "rl", reason)


def _words(choice: Choice) -> str:
    return choice.name.lower().replace("_", " ")


def make(catalogue: Catalogue, settings: Settings) -> Strategy[Learned]:
    """For settings.STRATEGIES. Raises StrategyError when the table cannot be used."""
    return RlStrategy(catalogue, settings.policy, table_of(settings))


def table_of(settings: Settings) -> Table:
    """The trained table the settings name, else the one that comes with the package. Raises StrategyError."""
    try:
        return shipped() if settings.rl_policy_file is None else read(settings.rl_policy_file)
    except TableError as error:
        raise StrategyError(str(error)) from None
