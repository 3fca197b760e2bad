# SPDX-License-Identifier: Apache-2.0
"""Many variants of each mission: what their flights share, who flies them, and what their figures say together."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import get_context
from statistics import fmean, stdev
from typing import Any, TypeVar

from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.registry import engine_available, engine_catalogue
from pqc_mav_policy.settings import Settings
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy_lab.compare.comparison import Row, row_of
from pqc_mav_policy_lab.compare.invariants import violations
from pqc_mav_policy_lab.flight_model.costs import Costs, published_costs
from pqc_mav_policy_lab.missions.attacked import mission
from pqc_mav_policy_lab.missions.fly import Simulation, fly

LEAST_SEEDS = 30
# Student's t for 95 %, two-sided, with 29 degrees of freedom; with more it is a little too careful.
T_95 = 2.045
# (name, unit, of a row)
Measures = tuple[tuple[str, str, Callable[[Row], float]], ...]
Flown = TypeVar("Flown")


@dataclass(frozen=True)
class Figure:
    """A mean over the variants, and half of its 95 % interval."""

    mean: float
    half: float

    @property
    def sign(self) -> int:
        """1 or -1 where the interval is wholly above or below 0, else 0."""
        return 0 if abs(self.mean) <= self.half else 1 if self.mean > 0 else -1


def figure(values: Sequence[float]) -> Figure:
    """Mean and half of the 95 % interval; infinite for a single value."""
    half = T_95 * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Figure(fmean(values), half)


@lru_cache(maxsize=1)
def world() -> tuple[Catalogue, tuple[str, ...], Costs]:
    """What every flight shares: the registry, the suites that are available, what handshakes cost."""
    catalogue = engine_catalogue()
    return catalogue, engine_available(), published_costs(catalogue)


class Variant:
    """One variant of a mission, to be flown as often as there is something to compare."""

    def __init__(self, name: str, number: int) -> None:
        self.catalogue, self._available, self._costs = world()
        self.settings = Settings()
        self._ladder = Ladder(self.catalogue, self.settings.policy.order)
        self._mission = mission(name, number)

    def row(self, label: str, strategy: Any, suite: str) -> Row:
        """A flight that begins with `suite`, which is also the drone's own."""
        simulation = Simulation(self._mission.world(), suite, self._available, self.catalogue, self._costs, suite)
        flight = fly(simulation, strategy)
        broken = violations(flight, self._ladder, self.settings.policy)
        return row_of(self._mission, label, flight, broken, self.catalogue, self._costs)


def each_mission(
    fly_one: Callable[[str, int], Flown], missions: Iterable[str], seeds: int, jobs: int
) -> Iterator[tuple[str, list[Flown]]]:
    """Every mission, and what `fly_one` made of its variants 1 to `seeds` (variant 0 is the comparison's)."""
    # Processes that begin anew: a copy of one that has threads may never get their locks.
    with ProcessPoolExecutor(jobs, get_context("spawn")) if jobs > 1 else nullcontext() as pool:
        for name in missions:
            one, variants = partial(fly_one, name), range(1, seeds + 1)
            yield name, list(map(one, variants) if pool is None else pool.map(one, variants))
