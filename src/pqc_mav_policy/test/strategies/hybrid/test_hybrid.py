# SPDX-License-Identifier: Apache-2.0
"""The hybrid: the expert's word stands, its ties are the table's, and neither leaves the safe set."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from random_flights import LADDER, PARAMETERS, situations, snapshots
from scenes import CATALOGUE, DEFAULT, GROUND, suite, well
from whims import Whim

from pqc_mav_policy import memory as memories
from pqc_mav_policy import senses
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade.rules import protect
from pqc_mav_policy.strategies.expert.expert import Expert, ExpertState
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters
from pqc_mav_policy.strategies.expert.performance import Performance, PerformanceTable
from pqc_mav_policy.strategies.hybrid.hybrid import TIE_MS, TIE_W, Hybrid, HybridState, no_worse
from pqc_mav_policy.strategies.rl.state import Choice, encode
from pqc_mav_policy.strategies.rl.table import Table
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase, Threat

L1 = suite("ML-512-AG-FA-512")
L5 = suite("ML-1024-AG-FA-1024")


def measured(suite_id: str, ms: float, watts: float | None = 4.3) -> Performance:
    return Performance(suite_id, ms, watts, None, 0.001, "test", True)


EVEN = PerformanceTable([measured(name, 10.0) for name in (DEFAULT, L1, L5)])


def hybrid(table: Table, figures: PerformanceTable = EVEN) -> Hybrid:
    return Hybrid(Expert(CATALOGUE, PARAMETERS, ExpertParameters(), figures), table)


def learned(inputs: DecisionInput, **values: float) -> Table:
    state = encode(Situation(inputs, memories.begin(0.0), PARAMETERS, LADDER, 50.0))
    return Table({state: tuple(values.get(choice.name.lower()) for choice in Choice)})


def decide(strategy: Hybrid, inputs: DecisionInput, guard: str = "", now: float = 50.0) -> Decision:
    """With calm and the guard standing since second 0."""
    memory = replace(memories.begin(0.0), last_s=now - 1.0)
    state = HybridState(ExpertState(memory, guard, 0.0), 0.0)
    return strategy.decide(inputs, state, now)[0]


HOVER = well(vehicle={"phase": Phase.HOVER}, session={"key_age_s": 40.0})


def test_while_all_is_clear_the_table_may_use_what_costs_no_more() -> None:
    decision = decide(hybrid(learned(HOVER, hold=1.0, rekey=1.5, level_5=2.0)), HOVER)
    assert (decision.action, decision.to_suite, decision.guard) == (Action.UPGRADE, L5, "clear+rl")
    assert "Equally good by the figures" in decision.reason and "2.00 against 1.00" in decision.reason
    assert decide(hybrid(learned(HOVER, hold=1.0, rekey=1.5)), HOVER).action is Action.REKEY
    assert decide(hybrid(learned(HOVER, hold=2.0, rekey=1.5)), HOVER).action is Action.HOLD
    assert decide(hybrid(Table({})), HOVER).guard == "clear"


def test_what_costs_more_is_no_tie() -> None:
    table = learned(HOVER, hold=1.0, level_5=2.0)
    for costly in (measured(L5, 10.1 + TIE_MS), measured(L5, 10.0, 4.31 + TIE_W)):
        figures = PerformanceTable([measured(DEFAULT, 10.0), costly])
        assert decide(hybrid(table, figures), HOVER).action is Action.HOLD
    unmeasured = PerformanceTable([measured(DEFAULT, 10.0)])
    assert decide(hybrid(table, unmeasured), HOVER).action is Action.HOLD


def test_no_worse() -> None:
    figures = PerformanceTable(
        [measured("a", 10.0), measured("b", 20.0, None), measured("c", 20.1), measured("d", 1.0)]
    )
    assert no_worse(figures, "b", "a") and no_worse(figures, "d", "a") and no_worse(figures, "x", "x")
    watts = PerformanceTable([measured("a", 10.0, 4.0), measured("b", 10.0, 4.0 + TIE_W), measured("c", 10.0, 4.06)])
    assert no_worse(watts, "b", "a") and not no_worse(watts, "c", "a")
    assert not no_worse(figures, "c", "a") and not no_worse(figures, "x", "a") and not no_worse(figures, "a", "x")


def test_a_standing_guard_leaves_the_table_fresh_keys_alone() -> None:
    warm = well(vehicle=GROUND, session={"key_age_s": 40.0}, thermal={"temperature_c": 75.0})
    strategy = hybrid(learned(warm, hold=1.0, rekey=2.0, level_5=3.0))
    decision = decide(strategy, warm, "thermal-elevated")
    assert (decision.action, decision.guard) == (Action.REKEY, "thermal-elevated+rl")
    assert decide(strategy, warm, "thermal-elevated", 4.9).action is Action.HOLD, "it may yet act"
    assert decide(strategy, warm, "thermal-elevated", 5.0).action is Action.REKEY
    new = HybridState(ExpertState(replace(memories.begin(0.0), last_s=49.0), "thermal-elevated", 48.0), 0.0)
    assert strategy.decide(warm, new, 50.0)[0].action is Action.HOLD


def test_the_expert_is_held_back_from_a_heavier_suite_under_stress() -> None:
    attacked = well(L1, threat=Threat.ATTACK, session={"key_age_s": 40.0})
    figures = PerformanceTable([measured(L1, 10.0), measured(L5, 9.0)])
    alone = Expert(CATALOGUE, PARAMETERS, ExpertParameters(), figures)
    state = ExpertState(memories.observe(attacked, memories.begin(0.0), PARAMETERS, 49.0), "heartbeat", 0.0)
    assert alone.decide(attacked, state, 50.0)[0].to_suite == L5
    decision = decide(hybrid(Table({}), figures), attacked, "heartbeat")
    assert decision.action is Action.HOLD and "out of the question (an attack is reported)" in decision.reason


@settings(max_examples=80, deadline=None)
@given(situations(), snapshots())
def test_protection_always_wins(it: Situation, inputs: DecisionInput) -> None:
    strategy = hybrid(Whim(2))
    now = it.now + 1.0
    decision, _ = strategy.decide(inputs, HybridState(ExpertState(it.memory), 0.0), now)
    inputs = senses.usable(inputs, PARAMETERS)
    ruled = protect(Situation(inputs, memories.observe(inputs, it.memory, PARAMETERS, now), PARAMETERS, LADDER, now))
    assert ruled is None or decision == ruled
