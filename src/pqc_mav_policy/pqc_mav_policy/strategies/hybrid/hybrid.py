# SPDX-License-Identifier: Apache-2.0
"""The hybrid strategy: the expert decides, the learned table breaks its ties, both within the safe set.

The figures of two suites often differ by less than they are accurate: then any suite measured as no worse than the
expert's choice would do, and the table says which. While all guards are clear, staying, fresh keys and another level at
no more cost are equal to the expert, too. While a guard is active and no measured suite is better, the table may renew
the keys, no more. Where the expert asks for a suite outside the safe set (a heavier one under stress), the hybrid
holds.
"""

from dataclasses import dataclass

from pqc_mav_policy import senses
from pqc_mav_policy.decision import Decision
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.settings import Settings
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.expert.expert import Expert, ExpertState
from pqc_mav_policy.strategies.expert.performance import PerformanceTable
from pqc_mav_policy.strategies.rl import safe as rl_safe
from pqc_mav_policy.strategies.rl.state import LEVEL_OF, Choice, encode, in_words
from pqc_mav_policy.strategies.rl.strategy import CHOOSE_EVERY_S, table_of
from pqc_mav_policy.strategies.rl.table import Table
from pqc_mav_policy.strategy import Strategy
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy.telemetry.inputs import DecisionInput

# How much longer a handshake may take and still be no worse: half of the 20 ms that time-critical control tolerates
# ([rpi4-analysis] 1). The power's is the spread of repeated runs of one suite in [rpi4-results] Table 4.
TIE_MS = 10.0
TIE_W = 0.05
KEYS_ONLY = (Choice.HOLD, Choice.REKEY)


@dataclass(frozen=True)
class HybridState:
    """The expert's state, and when the table may next be asked while all is clear [s]."""

    expert: ExpertState
    next_choice_s: float


def no_worse(table: PerformanceTable, suite: str, than: str) -> bool:
    """Whether both were measured and `suite` costs no more than a tie; every suite is no worse than itself."""
    if suite == than:
        return True
    if suite not in table or than not in table:
        return False
    one, other = table[suite], table[than]
    if one.handshake_ms > other.handshake_ms + TIE_MS:
        return False
    return one.power_w is None or other.power_w is None or one.power_w <= other.power_w + TIE_W


class Hybrid:
    """Expert first, table for the ties."""

    name = "hybrid"

    def __init__(self, expert: Expert, table: Table) -> None:
        self.expert = expert
        self.table = table
        self.ladder: Ladder = expert.ladder

    def initial_state(self, now: float) -> HybridState:
        """Nothing seen yet."""
        return HybridState(self.expert.initial_state(now), now)

    def decide(self, inputs: DecisionInput, state: HybridState, now: float) -> tuple[Decision, HybridState]:
        """The expert's decision, or the table's choice among what is no worse."""
        inputs = senses.usable(inputs, self.expert.parameters)
        decision, expert = self.expert.decide(inputs, state.expert, now)
        it = Situation(inputs, expert.memory, self.expert.parameters, self.ladder, now)
        following = now + CHOOSE_EVERY_S if self._asks(it, decision, expert, state) else state.next_choice_s

        def decided(it: Situation) -> Decision:
            own, _ = self.expert.decide(it.inputs, state.expert, now)
            if self._asks(it, own, expert, state):
                return self._among(it, own, KEYS_ONLY if expert.guard else tuple(Choice))
            if own.priority != 0 or not own.acts:
                return own
            return self._among(it, own) if rl_safe.is_safe(it, own.to_suite) else _refused(it, own)

        return it.no_lower(decided), HybridState(expert, following)

    def _asks(self, it: Situation, decision: Decision, expert: ExpertState, state: HybridState) -> bool:
        """Whether the table is due to be asked: the expert holds, and an active guard has had its time to act."""
        if decision.acts or decision.priority != 0 or it.now < state.next_choice_s:
            return False
        # An active guard acts, if it can at all, as soon as it has been active for this long.
        return not expert.guard or it.now - expert.since_s >= self.expert.parameters.tau_down_s

    def _among(self, it: Situation, decision: Decision, allowed: tuple[Choice, ...] = tuple(Choice)) -> Decision:
        """The best by the table among what is allowed and costs no more than the expert's choice."""
        state = encode(it)
        own = self._choice(it, decision)
        value = self.table.value(state, own)
        if value is None:
            return decision
        best, best_value = own, value
        for choice, suite in rl_safe.choices(it).items():
            # A hold never takes the expert's request back: the expert decides whether, the table decides which.
            if choice is own or choice not in allowed or (decision.acts and choice is Choice.HOLD):
                continue
            other = self.table.value(state, choice)
            if other is not None and other > best_value and no_worse(self.expert.table, suite, decision.to_suite):
                best, best_value = choice, other
        if best is own:
            return decision
        suite = rl_safe.choices(it)[best]
        reason = (
            f"{decision.reason} Equally good by the figures and worth more by what was learned ({best_value:.2f} "
            f"against {value:.2f}: {in_words(state)}): {it.ladder.catalogue[suite].short_code}."
        )
        return rl_safe.decision(it, suite, f"{decision.guard}+rl", reason)

    @staticmethod
    def _choice(it: Situation, decision: Decision) -> Choice:
        if not decision.acts:
            return Choice.HOLD
        if decision.to_suite == it.current:
            return Choice.REKEY
        level = it.ladder.catalogue[decision.to_suite].level
        return next(choice for choice, found in LEVEL_OF.items() if found == level)


def _refused(it: Situation, decision: Decision) -> Decision:
    why = rl_safe.disturbed(it) or "not safe now"
    return it.hold(decision.guard, 0, f"Holding; a heavier suite is out of the question ({why}): {decision.reason}")


def make(catalogue: Catalogue, settings: Settings) -> Strategy[HybridState]:
    """For settings.STRATEGIES. Raises StrategyError, PerformanceError."""
    expert = Expert(catalogue, settings.policy, settings.expert, settings.performance())
    return Hybrid(expert, table_of(settings))
