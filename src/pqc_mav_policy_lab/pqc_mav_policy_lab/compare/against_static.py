# SPDX-License-Identifier: Apache-2.0
"""A strategy against every static suite: pairs of flights on the same mission, from the same suite, many variants each.

The strategy starts on the static flight's suite and is configured with it, so its floor is that suite's level: what is
compared is what an owner of that suite gains or loses by switching the policy on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import get_context
from statistics import fmean, stdev
from typing import Any

from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.registry import engine_available, engine_catalogue
from pqc_mav_policy.settings import Settings, make
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy_lab.compare.comparison import STATIC_REKEY_S, Row, row_of
from pqc_mav_policy_lab.compare.invariants import violations
from pqc_mav_policy_lab.compare.static import StaticSuite
from pqc_mav_policy_lab.flight_model.costs import Costs, published_costs
from pqc_mav_policy_lab.missions.fly import Simulation, fly
from pqc_mav_policy_lab.missions.simulated import mission

LEAST_SEEDS = 30
# Student's t for 95 %, two-sided, with 29 degrees of freedom; with more it is a little too careful.
T_95 = 2.045
# (name, unit, of a row); of security more is better, of the others less.
MEASURES: tuple[tuple[str, str, Callable[[Row], float]], ...] = (
    ("security", "share of the mission", lambda row: row.mean_security),
    ("violations", "count", lambda row: float(row.broken)),
    ("energy", "J", lambda row: row.energy_j),
    ("outage", "s", lambda row: float(row.outage_s)),
)


@dataclass(frozen=True)
class Difference:
    """Strategy minus static suite: mean over the variants, and half of its 95 % interval."""

    mean: float
    half: float


@dataclass(frozen=True)
class Pair:
    """One mission against one static suite; means of both, and the differences by measure."""

    mission: str
    suite: str
    seeds: int
    static: Mapping[str, float]
    strategy: Mapping[str, float]
    difference: Mapping[str, Difference]


def distinct(catalogue: Catalogue, available: Sequence[str]) -> list[str]:
    """One suite for each KEM and signature: the model knows no difference between AEADs."""
    found: dict[tuple[str, str], str] = {}
    for name in available:
        found.setdefault((catalogue[name].kem_token, catalogue[name].sig_token), name)
    return list(found.values())


@lru_cache(maxsize=1)
def world() -> tuple[Catalogue, tuple[str, ...], Costs]:
    """What every flight shares: the registry, the suites that are available, what handshakes cost."""
    catalogue = engine_catalogue()
    return catalogue, engine_available(), published_costs(catalogue)


def flights(name: str, variant: int, strategy: str, suites: Sequence[str]) -> list[tuple[Row, Row]]:
    """Static and strategy on one variant of a mission, for each suite."""
    catalogue, available, costs = world()
    settings = Settings()
    ladder = Ladder(catalogue, settings.policy.order)
    flown = mission(name, variant)

    def row(made: Any, suite: str) -> Row:
        simulation = Simulation(flown.world(), suite, available, catalogue, costs, suite)
        flight = fly(simulation, made)
        return row_of(flown, made.name, flight, violations(flight, ladder, settings.policy), catalogue, costs)

    made = make(strategy, catalogue, settings)
    return [(row(StaticSuite(suite, STATIC_REKEY_S), suite), row(made, suite)) for suite in suites]


def against_static(
    strategy: str,
    missions: Iterable[str],
    suites: Sequence[str],
    seeds: int = LEAST_SEEDS,
    jobs: int = 1,
    told: Callable[[str], None] = lambda _line: None,
) -> list[Pair]:
    """Every mission against every suite, on variants 1 to `seeds` (variant 0 is the comparison's)."""
    pairs = []
    # Processes that begin anew: a copy of one that has threads may never get their locks.
    with ProcessPoolExecutor(jobs, get_context("spawn")) if jobs > 1 else nullcontext() as pool:
        for name in missions:
            fly_all = partial(flights, name, strategy=strategy, suites=suites)
            variants = range(1, seeds + 1)
            flown = list(map(fly_all, variants) if pool is None else pool.map(fly_all, variants))
            pairs += [_pair(name, suite, [rows[place] for rows in flown]) for place, suite in enumerate(suites)]
            told(name)
    return pairs


def _pair(name: str, suite: str, rows: Sequence[tuple[Row, Row]]) -> Pair:
    means: list[dict[str, float]] = [
        {measure: fmean(of(both[side]) for both in rows) for measure, _, of in MEASURES} for side in (0, 1)
    ]
    differences = {measure: _difference([of(own) - of(static) for static, own in rows]) for measure, _, of in MEASURES}
    return Pair(name, suite, len(rows), means[0], means[1], differences)


def _difference(values: Sequence[float]) -> Difference:
    half = T_95 * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Difference(fmean(values), half)
