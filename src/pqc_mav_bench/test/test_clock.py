# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_bench.clock import Exchange, estimate

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


def test_impossible_exchanges_are_left_out():
    found = estimate([Exchange(100, 0, 500, 101), exchange(7, 10, 10)])
    assert (found.offset_ns, found.exchanges) == (7, 1)
    with pytest.raises(ValueError):
        estimate([Exchange(100, 0, 500, 101)])
