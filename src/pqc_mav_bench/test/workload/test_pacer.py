# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_bench.workload.pacer import STALE_S, Pacer


@settings(max_examples=60, deadline=None)
@given(st.floats(1, 5000), st.lists(st.floats(0.0005, 0.05), min_size=1, max_size=200))
def test_the_rate_is_kept_over_any_span(rate, steps):
    pacer, now, sent = Pacer(rate, 0.0), 0.0, 0
    for step in steps:
        now += step
        sent += pacer.take(now, 10**6)
    assert abs(sent - (now * rate + 1)) <= 1
    assert pacer.skipped == 0
    assert pacer.next_s() > now - 1e-9


def test_a_long_pause_is_not_made_up_for():
    pacer = Pacer(1000, 0.0)
    pacer.take(0.0, 100)
    burst = pacer.take(10.0, 10**6)
    assert burst <= 1000 * STALE_S + 1
    assert pacer.skipped + burst == pytest.approx(10_000, abs=1)


def test_a_burst_is_limited_and_the_rest_follows():
    pacer = Pacer(1000, 0.0)
    assert pacer.take(0.1, 64) == 64
    assert pacer.take(0.1, 64) == 37


def test_no_rate_is_refused():
    with pytest.raises(ValueError):
        Pacer(0, 0.0)
