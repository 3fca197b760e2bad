# SPDX-License-Identifier: Apache-2.0
"""Flies the same missions under every strategy and static suites, and says what each was worth and what it cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.settings import STRATEGIES, Settings, make
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy.telemetry.inputs import TunnelState
from pqc_mav_policy_lab.compare.invariants import violations
from pqc_mav_policy_lab.compare.static import StaticSuite
from pqc_mav_policy_lab.flight_model.costs import PUBLISHED_STARTUP_S, Costs
from pqc_mav_policy_lab.missions.fly import Second, Simulation, fly
from pqc_mav_policy_lab.missions.recorded import RecordedMission
from pqc_mav_policy_lab.missions.simulated import Mission
from pqc_mav_policy_lab.training.reward import of_second, security_score

STATIC = "static"
HEAVY = "static-heavy"
LEVEL5 = "static-level5"
# The documents' default and their heaviest example ([rpi5-report] section 24), both renewed every minute as there; and
# the lightest suite of level 5 by the bytes of its handshake, of the fastest KEM.
STATIC_SUITE = "cs-mlkem768-aesgcm-mldsa65"
LEVEL5_SUITE = "cs-mlkem1024-aesgcm-falcon1024"
HEAVY_SUITE = "cs-classicmceliece8192128-aesgcm-mldsa87"
STATIC_REKEY_S = 60.0
LEVELS = (1, 3, 5)


@dataclass(frozen=True)
class Row:
    """One mission under one strategy. `source` tells simulated from recorded.

    `security_s` is security-weighted time: the seconds with a live session, each weighted by S of the reward
    (training/reward.py), `reward` the mean of R over all seconds. `outage_s` are seconds without data;
    `published_blackout_s` is what the same rekeys would have blacked out on the published system, which stops and
    starts its proxies. Energies are the companion computer's.
    """

    mission: str
    source: str
    strategy: str
    seconds: int
    security_s: float
    reward: float
    level_s: Mapping[int, int]
    rekeys: int
    suite_changes: int
    reconnects: int
    failed: int
    handshake_s: float
    longest_handshake_s: float
    outage_s: int
    published_blackout_s: float
    energy_j: float
    handshake_energy_j: float
    violations: Mapping[str, int]

    @property
    def mean_security(self) -> float:
        """Security-weighted share of the mission (0-1)."""
        return self.security_s / self.seconds

    @property
    def broken(self) -> int:
        """All violations."""
        return sum(self.violations.values())


@dataclass(frozen=True)
class Comparison:
    """All rows in order of mission and strategy."""

    rows: tuple[Row, ...]
    costs: str


def strategies(catalogue: Catalogue, settings: Settings) -> dict[str, Any]:
    """Every strategy by name, the static suites first. Raises what making a strategy raises."""
    made: dict[str, Any] = {
        STATIC: StaticSuite(STATIC_SUITE, STATIC_REKEY_S, STATIC),
        LEVEL5: StaticSuite(LEVEL5_SUITE, STATIC_REKEY_S, LEVEL5),
        HEAVY: StaticSuite(HEAVY_SUITE, STATIC_REKEY_S, HEAVY),
    }
    return made | {name: make(name, catalogue, settings) for name in STRATEGIES}


def compare(
    missions: Sequence[Mission | RecordedMission],
    flown: Mapping[str, Any],
    *,
    catalogue: Catalogue,
    costs: Costs,
    available: Sequence[str],
    settings: Settings,
    told: Callable[[str], None] = lambda _line: None,
) -> Comparison:
    """Every mission under every strategy, each twice: the second flight has to repeat the first (I4)."""
    ladder = Ladder(catalogue, settings.policy.order)
    rows: list[Row] = []
    for mission in missions:
        for name, strategy in flown.items():
            flights = [
                fly(Simulation(mission.world(), _start(strategy), available, catalogue, costs), strategy)
                for _ in range(2)
            ]
            told(f"{mission.name}: {name}")
            same = [entry.decision for entry in flights[0]] == [entry.decision for entry in flights[1]]
            broken = {**violations(flights[0], ladder, settings.policy), "I4": int(not same)}
            rows.append(row_of(mission, name, flights[0], broken, catalogue, costs))
    return Comparison(tuple(rows), costs.source)


def _start(strategy: Any) -> str:
    """Static suites fly their own; the others begin where an operator leaves them, with the documents' default."""
    return str(strategy.suite) if isinstance(strategy, StaticSuite) else STATIC_SUITE


def has_data(second: Second) -> bool:
    """Whether a session carried data in this second."""
    return not second.conditions.silent and second.inputs.session.state in (TunnelState.UP, TunnelState.REKEYING)


def row_of(
    mission: Mission | RecordedMission,
    strategy: str,
    flight: Sequence[Second],
    broken: Mapping[str, int],
    catalogue: Catalogue,
    costs: Costs,
) -> Row:
    """What a flight was worth and what it cost."""
    live = [entry for entry in flight if has_data(entry)]
    level = {entry.index: catalogue[entry.inputs.session.suite].level for entry in live}
    finished = [entry for entry in flight if entry.work.finished and entry.work.rekey]
    outcomes = [outcome for entry in flight for outcome in entry.inputs.outcomes]
    handshakes = [costs.compute_s[entry.work.finished] for entry in finished]
    security = {
        entry.index: security_score(level[entry.index], entry.inputs.session.key_age_s or 0.0, entry.conditions.danger)
        for entry in live
    }
    worth = [
        of_second(entry.conditions.phase, security.get(entry.index, 0.0), entry.work.under_way_s, entry.power_w)
        for entry in flight
    ]
    done = [entry.work.finished for entry in flight if entry.work.finished]
    return Row(
        mission=mission.name,
        source=mission.source,
        strategy=strategy,
        seconds=len(flight),
        security_s=sum(security.values()),
        reward=sum(worth) / len(worth),
        level_s={wanted: sum(1 for found in level.values() if found == wanted) for wanted in LEVELS},
        rekeys=len(finished),
        suite_changes=sum(1 for entry in finished if entry.work.finished != entry.inputs.session.suite),
        reconnects=sum(1 for entry in flight if entry.work.finished and not entry.work.rekey),
        failed=sum(1 for outcome in outcomes if not outcome.ok),
        handshake_s=sum(entry.work.under_way_s for entry in flight),
        longest_handshake_s=max((entry.work.took_s for entry in flight), default=0.0),
        outage_s=len(flight) - len(live),
        published_blackout_s=sum(PUBLISHED_STARTUP_S + spent for spent in handshakes),
        energy_j=sum(entry.power_w for entry in flight),
        handshake_energy_j=sum(costs.handshake_energy_j(suite) for suite in done),
        violations=dict(broken),
    )
