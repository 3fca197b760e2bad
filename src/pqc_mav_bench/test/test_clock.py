# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import good_run

from pqc_mav_bench.clock import Exchange, between, estimate
from pqc_mav_bench.suite_session import EXCHANGES

DAY_NS = 86_400_000_000_000


def exchange(offset: int, there: int, back: int, busy: int = 1000, t1: int = 10**12) -> Exchange:
    """An exchange between clocks `offset` apart whose messages took `there` and `back`."""
    t2 = t1 + there + offset
    return Exchange(t1, t2, t2 + busy, t1 + there + busy + back)


def test_the_formula_is_the_published_one():
    one = Exchange(t1=100, t2=260, t3=270, t4=130)
    assert one.offset_ns == ((260 - 100) + (270 - 130)) / 2 == 150
    assert one.round_trip_ns == 20


@settings(max_examples=100, deadline=None)
@given(
    st.integers(-DAY_NS, DAY_NS),
    st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)), min_size=1, max_size=8),
)
def test_the_estimate_is_wrong_by_at_most_half_the_round_trip(offset, ways):
    found = estimate(exchange(offset, there, back) for there, back in ways)
    assert abs(found.offset_ns - offset) <= found.round_trip_ns / 2 + 1
    assert found.round_trip_ns == min(there + back for there, back in ways)
    assert found.exchanges == len(ways)


def test_between_two_estimates_the_offset_drifts_evenly():
    before = estimate([exchange(1000, 10, 10, t1=0), exchange(1000, 40, 40, t1=5)])
    after = estimate([exchange(1200, 15, 15, t1=400)])
    found = between(before, after, 100)
    assert (found.offset_ns, found.round_trip_ns, found.exchanges, found.spread_ns) == (1050, 30, 3, 200)
    assert (before.uncertainty_ns, found.uncertainty_ns) == (10, 115)


def test_impossible_exchanges_are_left_out():
    found = estimate([Exchange(100, 0, 500, 101), exchange(7, 10, 10)])
    assert (found.offset_ns, found.exchanges) == (7, 1)
    with pytest.raises(ValueError):
        estimate([Exchange(100, 0, 500, 101)])


def test_clocks_of_two_machines_are_compared_after_a_run_too():
    def prepare(_drone, ground):
        quiet, ground.clock_id = ground.quiet, "other"

        def drifts():
            ground.clock_ahead_ns += 2_000_000
            return quiet()

        ground.quiet = drifts

    run = good_run(prepare=prepare)
    assert run.clock_sync.exchanges == 2 * EXCHANGES
    assert -0.1 < run.clock_sync.offset_ms < 2.1
    assert run.latency_jitter.owd_uncertainty_ms >= 1.0
