# SPDX-License-Identifier: Apache-2.0
"""Order statistics, ranking, correlation and regression."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recomputed import printed_only

from pqc_mav_bench.analysis import regression, statistics

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)


def test_missing_values_are_left_out_not_zero():
    summary = statistics.summarise([1.0, None, math.nan, 3.0])
    assert (summary.n, summary.mean, summary.median) == (2, 2.0, 2.0)


def test_empty_group_has_no_numbers():
    summary = statistics.summarise([math.nan])
    assert summary.n == 0
    assert math.isnan(summary.mean)
    with pytest.raises(ValueError, match="at least one"):
        statistics.box([])


def test_a_whisker_never_ends_inside_its_box():
    # The lower quartile, 7.75, lies between the outlier 1 and 10.
    parts = statistics.box([1.0, 10.0, 10.1, 10.2])
    assert parts.outliers == (1.0,)
    assert parts.low <= parts.q1 <= parts.median <= parts.q3 <= parts.high


def test_up_to_ten_degrees_of_freedom_have_each_their_quantile():
    assert list(statistics.T_95)[:10] == list(range(1, 11))


def test_the_interval_of_a_mean_follows_student():
    # t of 3 degrees of freedom 3.182 (any table), s = sqrt(5/3)
    mean, half = statistics.mean_interval([1.0, 2.0, 3.0, 4.0])
    assert mean == 2.5
    assert half == pytest.approx(3.182 * math.sqrt(5 / 3) / 2)
    assert math.isnan(statistics.mean_interval([7.0])[1])
    with pytest.raises(ValueError, match="needs a value"):
        statistics.mean_interval([])


def test_between_two_entries_the_wider_interval_is_taken():
    values = [float(i) for i in range(15)]  # 14 degrees of freedom: that of 12
    assert statistics.mean_interval(values)[1] == pytest.approx(2.179 * math.sqrt(20 / 15))


@pytest.mark.parametrize(("freedom", "quantile"), statistics.T_95.items())
def test_student_s_quantiles_leave_5_percent_outside(freedom, quantile):
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    x = np.linspace(0.0, quantile, 20_001)
    density = scale * (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
    assert 2 * float(np.sum(density[1:] + density[:-1]) / 2 * (x[1] - x[0])) == pytest.approx(0.95, abs=5e-5)


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_statistics_are_ordered(values):
    s = statistics.summarise(values)
    assert s.minimum <= s.q1 <= s.median <= s.q3 <= s.p95 + 1e-6 * abs(s.p95) + 1e-9 or s.q3 >= s.p95 - (s.q3 - s.q1)
    assert s.minimum <= s.p95 <= s.maximum
    low, high = statistics.median_interval(values)
    assert low <= s.median <= high
    b = statistics.box(values)
    assert len(b.outliers) + sum(b.low <= v <= b.high for v in values) == len(values)


def test_box_of_a_known_sample():
    b = statistics.box([1, 2, 3, 4, 100])
    assert (b.low, b.q1, b.median, b.q3, b.high, b.outliers) == (1, 2, 3, 4, 4, (100.0,))


def test_median_interval_has_the_promised_ranks():
    # For n = 10 the 95 % interval runs from the 2nd to the 9th value (coverage 97.9 %).
    assert statistics.median_interval(range(1, 11)) == (2.0, 9.0)
    for confidence in (0.0, 1.0):
        with pytest.raises(ValueError, match="confidence"):
            statistics.median_interval([1.0], confidence)


@pytest.mark.parametrize("n, ranks", [(6, (1, 6)), (10, (2, 9)), (20, (6, 15)), (50, (18, 33)), (100, (40, 61))])
def test_ranks_are_those_of_the_tables(n, ranks):
    # Conover, Practical Nonparametric Statistics, table A3: sign test quantiles at 95 %
    assert statistics.median_ranks(n) == ranks


def test_an_interval_begins_where_least_and_greatest_enclose_the_median_in_95_of_100_cases():
    assert min(n for n in range(1, 20) if 1 - 2 / 2**n >= 0.95) == statistics.FEWEST_FOR_AN_INTERVAL


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_samples_give_all_they_have(n):
    assert statistics.median_ranks(n) == (1, n)


def test_many_samples_join_smoothly():
    exact, near = statistics.median_ranks(1000), statistics.median_ranks(1001)
    assert abs(exact[0] - near[0]) <= 2
    assert abs(exact[1] - near[1]) <= 2
    with pytest.raises(ValueError):
        statistics.median_ranks(0)


def test_weighted_mean_refuses_unequal_lengths():
    assert printed_only.weighted_mean([1, 3], [3, 1]) == pytest.approx(1.5)
    with pytest.raises(ValueError, match="as many sizes"):
        printed_only.weighted_mean([1], [1, 2])


def test_regression_finds_the_law_it_was_made_from():
    rng = np.random.default_rng(5)
    a, b = rng.uniform(100, 1e6, 80), rng.uniform(600, 3e4, 80)
    exact = regression.fit(10**-1.4 * a**0.9 * b**0.3, a, b)
    assert exact.slopes == pytest.approx((0.9, 0.3))
    assert exact.r_squared == pytest.approx(1)
    assert regression.PUBLISHED.predict(800, 655) == pytest.approx(10**-1.42 * 800**0.87 * 655**0.31)
    assert exact.predict(800, 655) == pytest.approx(10**-1.4 * 800**0.9 * 655**0.3)
    noisy = regression.fit(a**0.9 * 10 ** rng.normal(0, 0.3, 80), a)
    assert 0.4 < noisy.r_squared < 0.95
    assert regression.fit([1.0, 1.0, 1.0], [1, 2, 3]).r_squared == 1, "nothing scatters"


def test_regression_refuses_what_determines_nothing():
    with pytest.raises(ValueError, match="collinear"):
        regression.fit([1, 2, 4, 8], [1, 2, 3, 4], [1, 2, 3, 4])
    with pytest.raises(ValueError, match="more than 2 points"):
        regression.fit([1, 2], [1, 2])
    with pytest.raises(ValueError, match="2 variables"):
        regression.PUBLISHED.predict(800)


def test_regression_skips_what_has_no_logarithm():
    fitted = regression.fit([1, 10, 100, 0, math.nan], [1, 10, 100, 5, 7])
    assert fitted.n == 3


def test_wilson_agrees_with_published_values():
    # Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263, and 0 of 20
    assert statistics.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert statistics.wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_is_symmetric(counts):
    failures, trials = counts
    low, high = statistics.wilson(failures, trials)
    assert 0 <= low <= failures / trials <= high <= 1
    mirrored = statistics.wilson(trials - failures, trials)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("counts", [(1, 0), (-1, 3), (4, 3)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ValueError):
        statistics.wilson(*counts)


def test_phi_is_the_published_formula():
    # [pqcmav-paper], table IX: 9.2 s handshake, rekeyed every 60 s, gives 13.3 %
    assert statistics.phi(9.2, 60) == pytest.approx(0.133, abs=5e-4)
    assert statistics.phi(0, 60) == 0
    for bad in ((-1, 60), (1, 0)):
        with pytest.raises(ValueError):
            statistics.phi(*bad)


def test_delays_are_exact():
    figures = statistics.delays([float(value) for value in range(1, 101)])
    assert figures["count"] == 100
    assert (figures["mean_ms"], figures["p50_ms"], figures["max_ms"]) == (50.5, 50.5, 100.0)
    assert figures["p95_ms"] == pytest.approx(95.05)
    assert statistics.delays([])["p50_ms"] is None
