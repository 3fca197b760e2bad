# SPDX-License-Identifier: Apache-2.0
"""All strategies and the static suites on many variants of each mission, against one static suite of level 5.

The strategies begin where an operator leaves them, with the documents' default, as in the comparison. One more has the
level-5 suite as its own, and therefore as its floor. Differences are paired: both flew the same variant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from statistics import fmean, stdev
from typing import Any

from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.settings import Settings, make
from pqc_mav_policy_lab.compare.against_static import LEAST_SEEDS, T_95, world
from pqc_mav_policy_lab.compare.comparison import LEVEL5, LEVEL5_SUITE, STATIC_SUITE, Row, row_of, strategies
from pqc_mav_policy_lab.compare.invariants import violations
from pqc_mav_policy_lab.compare.static import StaticSuite
from pqc_mav_policy_lab.missions.fly import Simulation, fly
from pqc_mav_policy_lab.missions.simulated import mission

AT_LEVEL5 = "measured-level5"  # the strategy `measured` on a drone whose own suite is of level 5
# (name, unit, of a row); of security and reward more is better, of the others less.
MEASURES: tuple[tuple[str, str, Callable[[Row], float]], ...] = (
    ("security", "share of the mission", lambda row: row.mean_security),
    ("reward", "mean R", lambda row: row.reward),
    ("violations", "count", lambda row: float(row.broken)),
    ("handshakes", "J", lambda row: row.handshake_energy_j),
    ("longest", "s", lambda row: row.longest_handshake_s),
    ("outage", "s", lambda row: float(row.outage_s)),
)


@dataclass(frozen=True)
class Figure:
    """A mean over the variants, and half of its 95 % interval."""

    mean: float
    half: float

    @property
    def sign(self) -> int:
        """1 or -1 where the interval is wholly above or below 0, else 0."""
        return 0 if abs(self.mean) <= self.half else 1 if self.mean > 0 else -1


@dataclass(frozen=True)
class Judged:
    """One strategy on one mission: each measure, and its paired difference to the static suite of level 5."""

    mission: str
    strategy: str
    seeds: int
    measures: Mapping[str, Figure]
    difference: Mapping[str, Figure]


def flights(name: str, variant: int) -> dict[str, Row]:
    """Every strategy and static suite on one variant of a mission."""
    catalogue, available, costs = world()
    settings = Settings()
    ladder = Ladder(catalogue, settings.policy.order)
    flown = mission(name, variant)

    def row(label: str, strategy: Any, suite: str) -> Row:
        flight = fly(Simulation(flown.world(), suite, available, catalogue, costs, suite), strategy)
        return row_of(flown, label, flight, violations(flight, ladder, settings.policy), catalogue, costs)

    made = {
        label: row(label, strategy, strategy.suite if isinstance(strategy, StaticSuite) else STATIC_SUITE)
        for label, strategy in strategies(catalogue, settings).items()
    }
    return made | {AT_LEVEL5: row(AT_LEVEL5, make("measured", catalogue, settings), LEVEL5_SUITE)}


def judge(
    missions: Iterable[str], seeds: int = LEAST_SEEDS, jobs: int = 1, told: Callable[[str], None] = lambda _line: None
) -> list[Judged]:
    """Every mission on variants 1 to `seeds` (variant 0 is the comparison's)."""
    found: list[Judged] = []
    # Processes that begin anew: a copy of one that has threads may never get their locks.
    with ProcessPoolExecutor(jobs, get_context("spawn")) if jobs > 1 else nullcontext() as pool:
        for name in missions:
            one, variants = partial(flights, name), range(1, seeds + 1)
            flown = list(map(one, variants) if pool is None else pool.map(one, variants))
            found += [_judged(name, label, flown) for label in flown[0]]
            told(name)
    return found


def _judged(name: str, label: str, flown: Sequence[Mapping[str, Row]]) -> Judged:
    own = {measure: figure([of(rows[label]) for rows in flown]) for measure, _, of in MEASURES}
    against = {measure: figure([of(rows[label]) - of(rows[LEVEL5]) for rows in flown]) for measure, _, of in MEASURES}
    return Judged(name, label, len(flown), own, against)


def figure(values: Sequence[float]) -> Figure:
    """Mean and half of the 95 % interval; infinite for a single value."""
    half = T_95 * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Figure(fmean(values), half)
