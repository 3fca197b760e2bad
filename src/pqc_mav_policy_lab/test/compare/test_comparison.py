# SPDX-License-Identifier: Apache-2.0
"""The comparison: its figures are those of the flights, and a static suite shows what adaptation is for."""

from __future__ import annotations

import pytest
from recorded_flights import flown, record
from scenes import CATALOGUE, CORE

from pqc_mav_policy.settings import Settings
from pqc_mav_policy_lab.compare import comparison as comparing
from pqc_mav_policy_lab.compare.comparison import (
    HEAVY,
    HEAVY_SUITE,
    LEVEL5,
    LEVEL5_SUITE,
    STATIC,
    STATIC_SUITE,
    Comparison,
    Row,
    compare,
)
from pqc_mav_policy_lab.compare.static import StaticSuite
from pqc_mav_policy_lab.flight_model.costs import published_costs
from pqc_mav_policy_lab.missions.recorded import RecordedMission
from pqc_mav_policy_lab.missions.simulated import mission
from pqc_mav_policy_lab.recordings.replay import read

COSTS = published_costs(CATALOGUE)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    recording = record(tmp_path_factory.mktemp("compare") / "hot.mcap", flown("hot"))
    missions = [mission("bad-link"), RecordedMission(read(recording, "drone"))]
    return compare(
        missions,
        comparing.strategies(CATALOGUE, Settings()),
        catalogue=CATALOGUE,
        costs=COSTS,
        available=CORE,
        settings=Settings(),
    )


def row(comparison: Comparison, flight: str, strategy: str) -> Row:
    (found,) = [entry for entry in comparison.rows if (entry.mission, entry.strategy) == (flight, strategy)]
    return found


def test_every_mission_under_every_strategy(comparison: Comparison) -> None:
    names = [STATIC, LEVEL5, HEAVY, "measured", "cascade", "expert", "rl", "hybrid"]
    assert [entry.strategy for entry in comparison.rows] == names * 2
    assert {entry.mission: entry.source for entry in comparison.rows} == {"bad-link": "simulated", "hot": "recorded"}
    for entry in comparison.rows:
        assert sum(entry.level_s.values()) + entry.outage_s == entry.seconds
        assert 0.0 < entry.security_s <= entry.seconds and entry.violations["I4"] == 0
        assert entry.published_blackout_s >= 3.0 * entry.rekeys


def test_the_adaptive_strategies_answer_the_heat_and_the_static_ones_do_not(comparison: Comparison) -> None:
    for name in ("measured", "cascade", "expert", "rl", "hybrid"):
        assert row(comparison, "hot", name).broken == 0
    assert row(comparison, "hot", STATIC).violations["I1"] == 1


def test_a_heavy_static_suite_fails_on_a_bad_link(comparison: Comparison) -> None:
    heavy = row(comparison, "bad-link", HEAVY)
    assert heavy.failed > 0 and heavy.longest_handshake_s > 5.0
    assert heavy.handshake_energy_j > 50 * row(comparison, "bad-link", STATIC).handshake_energy_j
    assert set(heavy.level_s) == {1, 3, 5} and heavy.level_s[5] + heavy.outage_s == heavy.seconds
    assert row(comparison, "bad-link", "cascade").failed == 0


def test_the_energy_of_rekeys_is_the_published_arithmetic(comparison: Comparison) -> None:
    for name, suite in ((STATIC, STATIC_SUITE), (LEVEL5, LEVEL5_SUITE), (HEAVY, HEAVY_SUITE)):
        entry = row(comparison, "hot", name)
        expected = entry.rekeys * 3.99 * COSTS.compute_s[suite]
        assert entry.handshake_energy_j == pytest.approx(expected) and entry.suite_changes == 0


def test_a_strategy_that_is_not_deterministic_is_found() -> None:
    class Fickle(StaticSuite):
        flights = 0

        def initial_state(self, now: float) -> None:
            Fickle.flights += 1
            self._every_s = 60.0 + Fickle.flights

    fickle = Fickle(STATIC_SUITE, 60.0)
    settings = Settings()
    found = compare(
        [mission("hot")], {"fickle": fickle}, catalogue=CATALOGUE, costs=COSTS, available=CORE, settings=settings
    )
    assert found.rows[0].violations["I4"] == 1
