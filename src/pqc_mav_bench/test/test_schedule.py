# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.schedule import BLOCK, Action, Item, Schedule, State, ordered_runs

ITEMS = ordered_runs(["baseline"], ["a", "b", "c", "d"], 2, randomise=True, seed=3)


def test_a_plan_has_every_run_once_and_each_round_an_order_of_its_own():
    items = ordered_runs(["baseline", "tst"], list("abcdefgh"), 3, randomise=True, seed=1)
    assert len(set(items)) == len(items) == 2 * 8 * 3
    rounds = [tuple(item.suite for item in items[start : start + 8]) for start in range(0, len(items), 8)]
    assert all(sorted(order) == list("abcdefgh") for order in rounds)
    assert len(set(rounds)) > 1
    assert [item.repetition for item in items] == [1] * 16 + [2] * 16 + [3] * 16


def test_a_block_of_suites_is_measured_in_every_scenario_before_the_next_begins():
    scenarios, suites = ["baseline", "xgboost", "tst"], [f"suite-{number}" for number in range(72)]
    items = ordered_runs(scenarios, suites, 1, randomise=True, seed=1)
    assert len(set(items)) == len(items) == 216
    blocks = [items[start : start + 3 * BLOCK] for start in range(0, len(items), 3 * BLOCK)]
    firsts = set()
    for block in blocks:
        parts = [block[start : start + BLOCK] for start in range(0, len(block), BLOCK)]
        assert all(len({item.scenario for item in part}) == 1 for part in parts)
        assert {part[0].scenario for part in parts} == set(scenarios)
        assert len({frozenset(item.suite for item in part) for part in parts}) == 1
        assert len({tuple(item.suite for item in part) for part in parts}) > 1
        firsts.add(parts[0][0].scenario)
    assert len(firsts) > 1


@given(st.integers(1, 80), st.integers(1, 3), st.integers(1, 3), st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_every_number_of_suites_gives_each_run_once(suites, scenarios, repetitions, seed):
    names = [str(number) for number in range(suites)]
    kinds = ["baseline", "xgboost", "tst"][:scenarios]
    items = ordered_runs(kinds, names, repetitions, randomise=True, seed=seed)
    assert len(set(items)) == len(items) == suites * scenarios * repetitions


def test_without_randomising_the_order_is_that_of_the_registry():
    items = ordered_runs(["baseline", "tst"], ["b", "a"], 1, randomise=False, seed=5)
    assert [(item.scenario, item.suite) for item in items] == [
        ("baseline", "b"),
        ("baseline", "a"),
        ("tst", "b"),
        ("tst", "a"),
    ]


def test_the_seed_gives_the_order():
    first, again, other = (
        ordered_runs(["baseline"], list("abcdefgh"), 1, randomise=True, seed=seed) for seed in (5, 5, 6)
    )
    assert first == again != other
    as_given = ordered_runs(["baseline"], ["b", "a"], 1, randomise=False, seed=5)
    assert [item.suite for item in as_given] == ["b", "a"]


def test_evaluating_changes_nothing():
    schedule = Schedule(ITEMS)
    before = copy.deepcopy(schedule.to_dict())
    assert schedule.evaluate() == schedule.evaluate()
    assert schedule.to_dict() == before


def test_a_run_that_failed_is_held_until_its_tries_are_used_up():
    schedule = Schedule(ITEMS, attempts=2)
    first = schedule.evaluate()
    assert first.action is Action.NEXT_SUITE
    assert schedule.confirm_advance(first.item, passed=False, reason="no luck") is State.PENDING
    again = schedule.evaluate()
    assert (again.action, again.item) == (Action.HOLD, first.item)
    assert "try 2 of 2 after: no luck" in again.reason
    assert schedule.confirm_advance(first.item, passed=False, reason="no luck again") is State.FAILED
    assert schedule.evaluate().item != first.item
    assert schedule.reason(first.item) == "no luck again"


def test_an_advance_is_confirmed_once():
    schedule = Schedule(ITEMS)
    schedule.confirm_advance(ITEMS[0], passed=True)
    with pytest.raises(ValueError, match="not pending"):
        schedule.confirm_advance(ITEMS[0], passed=True)
    with pytest.raises(ValueError, match="not pending"):
        schedule.confirm_advance(Item("baseline", "unknown", 1), passed=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), max_size=40), st.integers(1, 3))
def test_every_history_ends_and_survives_the_disk(outcomes, attempts):
    schedule = Schedule(ITEMS, attempts)
    confirmed = 0
    for passed in outcomes:
        decision = schedule.evaluate()
        if decision.action is Action.COMPLETE:
            break
        schedule.confirm_advance(decision.item, passed=passed, reason="" if passed else "r")
        confirmed += 1
        stored = Schedule.from_dict(json.loads(json.dumps(schedule.to_dict())))
        assert stored.to_dict() == schedule.to_dict()
        assert stored.evaluate() == schedule.evaluate()
    counts = schedule.counts()
    assert counts.total == len(ITEMS) == counts.pending + counts.completed + counts.failed
    assert counts.completed + counts.failed <= confirmed
    while (decision := schedule.evaluate()).action is not Action.COMPLETE:
        schedule.confirm_advance(decision.item, passed=False)
    assert schedule.counts().pending == 0


def test_a_run_can_be_opened_again_when_its_file_is_gone():
    schedule = Schedule(ITEMS)
    schedule.confirm_advance(ITEMS[0], passed=True)
    again = Schedule.from_dict(schedule.to_dict(), reopen=[ITEMS[0]])
    assert again.evaluate().item == ITEMS[0]


@pytest.mark.parametrize("damage", [{}, {"attempts": 2, "runs": [{"scenario": "x"}]}, {"attempts": 2, "runs": [{
    "scenario": "a", "suite": "b", "repetition": 1, "tries": 0, "reason": "", "state": "lost"}]}, []])  # fmt: skip
def test_a_damaged_state_is_refused(damage):
    with pytest.raises(StoreError, match="damaged"):
        Schedule.from_dict(damage)


def test_a_run_planned_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        Schedule([ITEMS[0], ITEMS[0]])
