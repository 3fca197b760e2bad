# SPDX-License-Identifier: Apache-2.0
"""Rekey overhead, energy, loss intervals, frontiers: definitions and their limits."""

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recomputed import printed_only

from pqc_mav_bench.analysis import energy, pareto, rekey, reliability
from pqc_mav_bench.analysis.intervals import COUNT, HIGH, LOW, RUNS


@settings(max_examples=80, deadline=None)
@given(st.floats(0.01, 1e5), st.floats(0.01, 50))
def test_interval_for_inverts_phi(handshake_ms, limit):
    assert rekey.phi_percent(handshake_ms, rekey.interval_for(handshake_ms, limit)) == pytest.approx(limit)


def test_phi_is_a_share_of_the_whole_cycle():
    assert rekey.phi_percent(60_000, 60) == 50
    assert printed_only.interval_share_percent(60_000, 60) == 100
    with pytest.raises(ValueError, match="interval > 0"):
        rekey.phi_percent(1, 0)


def test_budget_of_the_published_flight():
    budget = energy.rekey_budget(3.99, 1800, 60, 12.7)
    assert (budget.flight_J, budget.rekeys) == (7182, 30)
    assert budget.rekeys_J == pytest.approx(1.52, abs=0.005)
    assert budget.share_percent == pytest.approx(0.0212, abs=1e-4)


def test_energy_per_bit_is_of_all_traffic_where_a_run_has_it():
    table = pd.DataFrame({"suite": ["a", "b"], "power_mean_w": [4.0, 4.0], "throughput_mbps": [2.0, 4.0]})
    assert list(energy.per_bit_ranking(table)["energy_per_bit_nj"]) == [1000, 2000]
    both_ways = energy.per_bit_ranking(table.assign(energy_per_bit_nj=[math.nan, 500.0]))
    assert list(both_ways["energy_per_bit_nj"]) == [500]


def test_trapezoid_refuses_time_running_back():
    assert printed_only.trapezoid_j([2, 4], [0, 1]) == 3
    with pytest.raises(ValueError, match="rising order"):
        printed_only.trapezoid_j([1, 1], [1, 0])


def test_no_loss_still_has_an_upper_bound():
    low, high = reliability.wilson_percent(0, 9600)
    assert low == pytest.approx(0, abs=1e-12)
    assert 0.03 < high < 0.05
    with pytest.raises(ValueError, match="no proportion"):
        reliability.wilson_percent(2, 1)


def test_resilience_without_any_loss_is_full():
    losses = pd.DataFrame({"baseline": [0.0, 0.0], "tst": [0.0, 0.0]})
    assert list(reliability.resilience(losses)) == [100, 100]
    one = pd.DataFrame({"baseline": [0.0, 2.0, 1.0], "tst": [0.0, 2.0, math.nan]})
    scores = reliability.resilience(one)
    assert list(scores[:2]) == [100, 0]
    assert math.isnan(scores[2])


SUITES = st.lists(st.tuples(st.sampled_from([1, 3, 5]), st.integers(1, 20)), min_size=1, max_size=25)


@settings(max_examples=100, deadline=None)
@given(SUITES)
def test_frontier_is_exactly_the_undominated(points):
    table = pd.DataFrame(points, columns=["nist_level", "handshake_ms"])

    def dominated(i):
        level, cost = points[i]
        return any(lv >= level and c <= cost and (lv > level or c < cost) for lv, c in points)

    expected = [i for i in range(len(points)) if not dominated(i)]
    assert sorted(pareto.frontier(table).index) == expected
    assert set(pareto.frontier(table)["handshake_ms"]) <= set(pareto.fastest_per_level(table)["handshake_ms"])
    assert len(pareto.fastest_per_level(table)) == table["nist_level"].nunique()


def test_where_costs_have_intervals_only_what_surely_costs_more_is_dominated():
    ends = {
        "a": (1, 8.0, 9.0),
        "b": (3, 5.0, 8.0),
        "c": (3, 2.0, 4.9),
        "f": (3, 4.9, 9.0),
        "d": (5, 4.9, 6.0),
        "e": (5, 5.1, 9.0),
    }
    table = pd.DataFrame(ends, index=["nist_level", LOW, HIGH]).T.assign(**{COUNT: 30.0, RUNS: 3.0})
    table["handshake_ms"] = (table[LOW] + table[HIGH]) / 2
    assert pareto.frontier(table).index.tolist() == ["c", "f", "d", "e"], "what touches is a tie"
    assert pareto.fastest_per_level(table).index.tolist() == ["a", "c", "f", "d", "e"]
    few = table.assign(**{COUNT: [30.0, 30.0, 29.0, 30.0, 30.0, 30.0]})
    assert pareto.frontier(few).index.tolist() == ["b", "f", "d", "e"], "c has too few handshakes"
    assert pareto.fastest_per_level(few).index.tolist() == ["a", "b", "f", "d", "e"]
    assert pareto.fastest_per_level(table.assign(**{COUNT: 1.0})).empty


def test_frontier_of_nothing_is_empty():
    table = pd.DataFrame({"nist_level": [1], "handshake_ms": [math.nan]})
    assert pareto.frontier(table).empty
    assert pareto.fastest_per_level(table).empty
