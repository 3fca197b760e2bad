# SPDX-License-Identifier: Apache-2.0
"""Which run is next: a state machine whose evaluation is pure and whose only mutation is `confirm_advance`.

Evaluating and advancing are two steps: a run is measured, written to disk, and only then confirmed. Whatever
happens before the confirmation, the run is still pending.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pqc_mav_bench.errors import StoreError


@dataclass(frozen=True, order=True)
class Item:
    """One run of the campaign."""

    scenario: str
    suite: str
    repetition: int

    @property
    def name(self) -> str:
        """Unique within a campaign."""
        return f"{self.scenario}/{self.suite}/{self.repetition}"


class State(str, Enum):
    """State of one run."""

    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"


class Action(str, Enum):
    """What to do next."""

    HOLD = "HOLD"  # measure the same run again
    NEXT_SUITE = "NEXT_SUITE"  # go on to another run
    COMPLETE = "COMPLETE"  # nothing is left


@dataclass(frozen=True)
class Decision:
    """What to do, with which run, and why."""

    action: Action
    item: Item | None
    reason: str


@dataclass(frozen=True)
class Counts:
    """Runs by state."""

    total: int
    pending: int
    completed: int
    failed: int


#: Suites of a block: each block is measured in every scenario before the next one begins.
BLOCK = 12


def ordered_runs(
    scenarios: Sequence[str], suites: Sequence[str], repetitions: int, *, randomise: bool, seed: int
) -> list[Item]:
    """All runs in their order: round by round, each round in blocks, each block in all scenarios.

    A round has every suite once in every scenario. Its suites are in random order and cut into blocks of BLOCK; the
    scenarios of a block come in random order, and each has the block's suites in an order of its own. Slow changes of
    the machine (warmth, other load) then spread over suites, repetitions and scenarios alike, while a detector is
    started once per block only. Not randomised, scenario by scenario and round by round.
    """
    rounds = range(1, repetitions + 1)
    if not randomise:
        return [Item(scenario, suite, number) for scenario in scenarios for number in rounds for suite in suites]
    dice = random.Random(seed)
    return [
        Item(scenario, suite, number)
        for number in rounds
        for block in _blocks(_shuffled(suites, dice))
        for scenario in _shuffled(scenarios, dice)
        for suite in _shuffled(block, dice)
    ]


def _shuffled(names: Sequence[str], dice: random.Random) -> list[str]:
    return dice.sample(names, len(names))


def _blocks(names: Sequence[str]) -> list[Sequence[str]]:
    """Of nearly equal size, none larger than BLOCK."""
    count = math.ceil(len(names) / BLOCK)
    return [names[len(names) * i // count : len(names) * (i + 1) // count] for i in range(count)]


class Schedule:
    """Pending, completed and failed runs of one campaign, in the order of `items`."""

    def __init__(self, items: Iterable[Item], attempts: int = 2) -> None:
        """`attempts`: tries of one run before it counts as failed."""
        self.items = tuple(items)
        if len(set(self.items)) != len(self.items):
            raise ValueError("a run is planned twice")
        self._limit = attempts
        self._states = dict.fromkeys(self.items, State.PENDING)
        self._tries = dict.fromkeys(self.items, 0)
        self._reasons: dict[Item, str] = {}

    def state(self, item: Item) -> State:
        """State of one run."""
        return self._states[item]

    def reason(self, item: Item) -> str:
        """Why its last try failed; "" when none did."""
        return self._reasons.get(item, "")

    def tries(self, item: Item) -> int:
        """Failed tries so far."""
        return self._tries[item]

    def counts(self) -> Counts:
        """Runs by state."""
        states = list(self._states.values())
        return Counts(len(states), *(states.count(kind) for kind in State))

    def evaluate(self) -> Decision:
        """What is next. Changes nothing: the same state gives the same decision."""
        for item in self.items:
            if self._states[item] is State.PENDING:
                tries = self._tries[item]
                if tries:
                    again = f"try {tries + 1} of {self._limit} after: {self.reason(item)}"
                    return Decision(Action.HOLD, item, again)
                return Decision(Action.NEXT_SUITE, item, "the first run that is pending")
        return Decision(Action.COMPLETE, None, "no run is pending")

    def confirm_advance(self, item: Item, *, passed: bool, reason: str = "") -> State:
        """Records that a run was measured (and is on disk) or failed; the only way the state changes.

        Raises ValueError for a run that is not pending: one advance is confirmed once.
        """
        if self._states.get(item) is not State.PENDING:
            raise ValueError(f"run {item.name} is not pending")
        if passed:
            self._states[item] = State.COMPLETED
        else:
            self._tries[item] += 1
            self._reasons[item] = reason
            if self._tries[item] >= self._limit:
                self._states[item] = State.FAILED
        return self._states[item]

    def to_dict(self) -> dict[str, Any]:
        """The state as JSON; `from_dict` gives it back."""
        return {
            "attempts": self._limit,
            "runs": [
                {
                    "scenario": item.scenario,
                    "suite": item.suite,
                    "repetition": item.repetition,
                    "state": self._states[item].value,
                    "tries": self._tries[item],
                    "reason": self.reason(item),
                }
                for item in self.items
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], reopen: Iterable[Item] = ()) -> Schedule:
        """The schedule of a stored state; `reopen`: runs that are to be measured again whatever it says.

        Raises StoreError when the state is damaged.
        """
        try:
            entries = [
                (
                    Item(str(e["scenario"]), str(e["suite"]), int(e["repetition"])),
                    State(e["state"]),
                    int(e["tries"]),
                    str(e["reason"]),
                )
                for e in data["runs"]
            ]
            schedule = cls([item for item, *_ in entries], int(data["attempts"]))
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"The campaign's state is damaged ({type(error).__name__}: {error}).") from None
        again = set(reopen)
        for item, state, tries, reason in entries:
            if item in again:
                continue
            schedule._states[item], schedule._tries[item] = state, tries
            if reason:
                schedule._reasons[item] = reason
        return schedule
