# SPDX-License-Identifier: Apache-2.0
"""All strategies and the static suites on many variants of each mission, against one static suite of level 5.

The strategies begin where an operator leaves them, with the documents' default, as in the comparison. One more has the
level-5 suite as its own, and therefore as its floor. Differences are paired: both flew the same variant.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pqc_mav_policy.settings import make
from pqc_mav_policy_lab.compare.comparison import LEVEL5, LEVEL5_SUITE, STATIC_SUITE, Row, strategies
from pqc_mav_policy_lab.compare.static import StaticSuite
from pqc_mav_policy_lab.compare.variants import LEAST_SEEDS, Figure, Measures, Variant, each_mission, figure

AT_LEVEL5 = "measured-level5"  # the strategy `measured` on a drone whose own suite is of level 5
# Of security and reward more is better, of the others less.
MEASURES: Measures = (
    ("security", "share of the mission", lambda row: row.mean_security),
    ("reward", "mean R", lambda row: row.reward),
    ("violations", "count", lambda row: float(row.broken)),
    ("handshakes", "J", lambda row: row.handshake_energy_j),
    ("longest", "s", lambda row: row.longest_handshake_s),
    ("outage", "s", lambda row: float(row.outage_s)),
)


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
    flown = Variant(name, variant)
    made = {
        label: flown.row(label, strategy, strategy.suite if isinstance(strategy, StaticSuite) else STATIC_SUITE)
        for label, strategy in strategies(flown.catalogue, flown.settings).items()
    }
    own = make("measured", flown.catalogue, flown.settings)
    return made | {AT_LEVEL5: flown.row(AT_LEVEL5, own, LEVEL5_SUITE)}


def judge(
    missions: Iterable[str], seeds: int = LEAST_SEEDS, jobs: int = 1, told: Callable[[str], None] = lambda _line: None
) -> list[Judged]:
    """Every mission on variants 1 to `seeds`."""
    found: list[Judged] = []
    for name, flown in each_mission(flights, missions, seeds, jobs):
        found += [_judged(name, label, flown) for label in flown[0]]
        told(name)
    return found


def _judged(name: str, label: str, flown: Sequence[Mapping[str, Row]]) -> Judged:
    own = {measure: figure([of(rows[label]) for rows in flown]) for measure, _, of in MEASURES}
    against = {measure: figure([of(rows[label]) - of(rows[LEVEL5]) for rows in flown]) for measure, _, of in MEASURES}
    return Judged(name, label, len(flown), own, against)
