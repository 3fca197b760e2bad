from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_bench.numbers import delays, phi, wilson


def test_wilson_agrees_with_published_values():
    # Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263, and 0 of 20
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_is_symmetric(counts):
    failures, trials = counts
    low, high = wilson(failures, trials)
    assert 0 <= low <= failures / trials <= high <= 1
    mirrored = wilson(trials - failures, trials)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("counts", [(1, 0), (-1, 3), (4, 3)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ValueError):
        wilson(*counts)


def test_phi_is_the_published_formula():
    # document 001, table IX: 9.2 s handshake, rekeyed every 60 s, gives 13.3 %
    assert phi(9.2, 60) == pytest.approx(0.133, abs=5e-4)
    assert phi(0, 60) == 0
    for bad in ((-1, 60), (1, 0)):
        with pytest.raises(ValueError):
            phi(*bad)


def test_delays_are_exact():
    figures = delays([float(value) for value in range(1, 101)])
    assert figures["count"] == 100
    assert (figures["mean_ms"], figures["p50_ms"], figures["max_ms"]) == (50.5, 50.5, 100.0)
    assert figures["p95_ms"] == pytest.approx(95.05)
    assert delays([])["p50_ms"] is None
