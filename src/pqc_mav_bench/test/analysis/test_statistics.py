"""Order statistics, ranking, correlation and regression."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_statistics_are_ordered(values):
    s = statistics.summarise(values)
    assert s.minimum <= s.q1 <= s.median <= s.q3 <= s.p95 + 1e-6 * abs(s.p95) + 1e-9 or s.q3 >= s.p95 - s.iqr
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
    with pytest.raises(ValueError, match="confidence"):
        statistics.median_interval([1.0], 1.0)


def test_rank_leaves_out_what_was_not_measured():
    table = pd.DataFrame({"suite": ["a", "b", "c"], "t": [2.0, math.nan, 1.0]})
    ranked = statistics.rank(table, "t")
    assert list(ranked["suite"]) == ["c", "a"]
    assert list(ranked["rank"]) == [1, 2]


def test_correlations():
    x = [1, 2, 3, 4]
    assert statistics.pearson(x, [2, 4, 6, 8]) == pytest.approx(1)
    assert statistics.spearman(x, [1, 10, 100, 1000]) == pytest.approx(1)
    assert statistics.spearman(x, [4, 3, 2, 1]) == pytest.approx(-1)
    assert math.isnan(statistics.pearson(x, [5, 5, 5, 5]))


def test_weighted_mean_refuses_unequal_lengths():
    assert statistics.weighted_mean([1, 3], [3, 1]) == pytest.approx(1.5)
    with pytest.raises(ValueError, match="as many sizes"):
        statistics.weighted_mean([1], [1, 2])


def test_regression_finds_the_law_it_was_made_from():
    rng = np.random.default_rng(5)
    a, b = rng.uniform(100, 1e6, 80), rng.uniform(600, 3e4, 80)
    exact = regression.fit(10**-1.4 * a**0.9 * b**0.3, a, b)
    assert exact.slopes == pytest.approx((0.9, 0.3))
    assert exact.r_squared == pytest.approx(1)
    assert exact.predict(800, 655) == pytest.approx(10**-1.4 * 800**0.9 * 655**0.3)
    noisy = regression.fit(a**0.9 * 10 ** rng.normal(0, 0.3, 80), a)
    assert 0.4 < noisy.r_squared < 0.95


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
