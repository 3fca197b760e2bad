# SPDX-License-Identifier: Apache-2.0
"""A strategy against every static suite: pairs of flights on the same mission, from the same suite, many variants each.

The strategy starts on the static flight's suite and is configured with it, so its floor is that suite's level: what is
compared is what an owner of that suite gains or loses by switching the policy on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from pqc_mav_policy.settings import make
from pqc_mav_policy.strategy import Strategy
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy_lab.compare.comparison import STATIC_REKEY_S, Row
from pqc_mav_policy_lab.compare.static import StaticSuite
from pqc_mav_policy_lab.compare.variants import LEAST_SEEDS, Figure, Measures, Variant, each_mission, figure

# Of security more is better, of the others less.
MEASURES: Measures = (
    ("security", "share of the mission", lambda row: row.mean_security),
    ("violations", "count", lambda row: float(row.broken)),
    ("energy", "J", lambda row: row.energy_j),
    ("outage", "s", lambda row: float(row.outage_s)),
)


@dataclass(frozen=True)
class Pair:
    """One mission against one static suite; means of both, and strategy minus static suite by measure."""

    mission: str
    suite: str
    seeds: int
    static: Mapping[str, float]
    strategy: Mapping[str, float]
    difference: Mapping[str, Figure]


def distinct(catalogue: Catalogue, available: Sequence[str]) -> list[str]:
    """One suite for each KEM and signature: the model knows no difference between AEADs."""
    found: dict[tuple[str, str], str] = {}
    for name in available:
        found.setdefault((catalogue[name].kem_token, catalogue[name].sig_token), name)
    return list(found.values())


def flights(name: str, variant: int, strategy: str, suites: Sequence[str]) -> list[tuple[Row, Row]]:
    """Static and strategy on one variant of a mission, for each suite."""
    flown = Variant(name, variant)
    made = make(strategy, flown.catalogue, flown.settings)

    def row(of: StaticSuite | Strategy[Any], suite: str) -> Row:
        return flown.row(of.name, of, suite)

    return [(row(StaticSuite(suite, STATIC_REKEY_S), suite), row(made, suite)) for suite in suites]


def against_static(
    strategy: str,
    missions: Iterable[str],
    suites: Sequence[str],
    seeds: int = LEAST_SEEDS,
    jobs: int = 1,
    told: Callable[[str], None] = lambda _line: None,
) -> list[Pair]:
    """Every mission against every suite, on variants 1 to `seeds`."""
    pairs: list[Pair] = []
    for name, flown in each_mission(partial(flights, strategy=strategy, suites=suites), missions, seeds, jobs):
        pairs += [_pair(name, suite, [rows[place] for rows in flown]) for place, suite in enumerate(suites)]
        told(name)
    return pairs


def _pair(name: str, suite: str, rows: Sequence[tuple[Row, Row]]) -> Pair:
    means: list[dict[str, float]] = [
        {measure: fmean(of(both[side]) for both in rows) for measure, _, of in MEASURES} for side in (0, 1)
    ]
    differences = {measure: figure([of(own) - of(static) for static, own in rows]) for measure, _, of in MEASURES}
    return Pair(name, suite, len(rows), means[0], means[1], differences)
