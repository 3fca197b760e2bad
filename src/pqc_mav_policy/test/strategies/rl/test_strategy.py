# SPDX-License-Identifier: Apache-2.0
"""The learned strategy: whatever a table says, the protection wins and no invariant breaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from random_flights import LADDER, PARAMETERS, situations, snapshots
from scenes import CATALOGUE, well
from whims import Whim

from pqc_mav_policy import memory as memories
from pqc_mav_policy import senses
from pqc_mav_policy.decision import Action
from pqc_mav_policy.settings import Settings, StrategyError, make
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade.cascade import Cascade
from pqc_mav_policy.strategies.cascade.rules import protect
from pqc_mav_policy.strategies.rl.safe import is_safe
from pqc_mav_policy.strategies.rl.state import Choice, encode
from pqc_mav_policy.strategies.rl.strategy import CHOOSE_EVERY_S, Learned, RlStrategy
from pqc_mav_policy.strategies.rl.table import Table, write
from pqc_mav_policy.telemetry.inputs import DecisionInput


@settings(max_examples=150, deadline=None)
@given(situations(), snapshots())
def test_protection_always_wins(it: Situation, inputs: DecisionInput) -> None:
    """Property: where rules 1 to 4 speak, the strategy says what they say; elsewhere it stays in the safe set."""
    strategy = RlStrategy(CATALOGUE, PARAMETERS, Whim(1))
    now = it.now + 1.0
    decision, _ = strategy.decide(inputs, Learned(it.memory, 0.0), now)
    inputs = senses.usable(inputs, PARAMETERS)
    memory = memories.observe(inputs, it.memory, PARAMETERS, now)
    seen = Situation(inputs, memory, PARAMETERS, LADDER, now)
    ruled = protect(seen)
    if ruled is not None:
        assert decision == ruled
    elif decision.acts:
        assert is_safe(seen, decision.to_suite)


def strategy_with(inputs: DecisionInput, **values: float) -> tuple[RlStrategy, DecisionInput]:
    state = encode(Situation(inputs, memories.begin(0.0), PARAMETERS, LADDER, 100.0))
    row = tuple(values.get(choice.name.lower()) for choice in Choice)
    return RlStrategy(CATALOGUE, PARAMETERS, Table({state: row})), inputs


#: Calm since second 0, last looked a second ago.
CALM = replace(memories.begin(0.0), last_s=99.0)


def decide(strategy: RlStrategy, inputs: DecisionInput) -> tuple[object, str, str]:
    decision, _ = strategy.decide(inputs, Learned(CALM, 0.0), 100.0)
    return decision.action, decision.guard, decision.reason


OLD = well(session={"key_age_s": 90.0})


def test_the_highest_value_is_chosen_and_said() -> None:
    action, guard, reason = decide(*strategy_with(OLD, hold=1.0, rekey=2.0, level_1=1.5))
    assert (action, guard) == (Action.REKEY, "rl")
    assert reason == "Learned value of rekey 2.00, level 1 1.50 (cruising, level 3, keys 60-120 s old)."
    action, _, _ = decide(*strategy_with(OLD, hold=3.0, rekey=2.0))
    assert action is Action.HOLD
    action, _, _ = decide(*strategy_with(OLD, hold=2.0, rekey=2.0))
    assert action is Action.HOLD  # equal: what changes less
    action, _, _ = decide(*strategy_with(OLD, hold=0.0, level_5=9.0))
    assert action is Action.HOLD  # never upwards while cruising


def test_where_nothing_was_learned_the_cascade_decides() -> None:
    strategy = RlStrategy(CATALOGUE, PARAMETERS, Table({}))
    cascade = Cascade(CATALOGUE, PARAMETERS)
    expected, _ = cascade.decide(OLD, CALM, 100.0)
    decision, _ = strategy.decide(OLD, Learned(CALM, 0.0), 100.0)
    assert decision == expected and decision.guard == "rekey"


def test_choices_come_at_the_pace_they_were_learned_at() -> None:
    strategy, inputs = strategy_with(OLD, hold=1.0, rekey=2.0)
    state = Learned(CALM, 0.0)
    acted = []
    for second in range(12):
        decision, state = strategy.decide(inputs, state, 100.0 + second)
        acted.append(decision.acts)
    assert [index for index, act in enumerate(acted) if act] == [0, CHOOSE_EVERY_S, 2 * CHOOSE_EVERY_S]


def test_the_table_of_the_settings_is_flown(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    write(strategy_with(OLD, hold=0.0, rekey=1.0)[0].table, path)
    made = make("rl", CATALOGUE, Settings(rl_policy_file=path))
    decision, _ = made.decide(OLD, Learned(CALM, 0.0), 100.0)
    assert decision.action is Action.REKEY
    path.write_text("{}")
    for name in ("rl", "hybrid"):
        with pytest.raises(StrategyError, match="not a trained table"):
            make(name, CATALOGUE, Settings(rl_policy_file=path))
