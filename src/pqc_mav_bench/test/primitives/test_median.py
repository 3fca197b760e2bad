from __future__ import annotations

import random
import statistics

import pytest

from pqc_mav_bench.primitives.median import describe, median_ranks


@pytest.mark.parametrize("n, ranks", [(6, (1, 6)), (10, (2, 9)), (20, (6, 15)), (50, (18, 33)), (100, (40, 61))])
def test_ranks_are_those_of_the_tables(n, ranks):
    # Conover, Practical Nonparametric Statistics, table A3: sign test quantiles at 95 %
    assert median_ranks(n) == ranks


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_samples_give_all_they_have(n):
    assert median_ranks(n) == (1, n)


def test_many_samples_join_smoothly():
    exact, near = median_ranks(1000), median_ranks(1001)
    assert abs(exact[0] - near[0]) <= 2
    assert abs(exact[1] - near[1]) <= 2
    with pytest.raises(ValueError):
        median_ranks(0)


def test_the_interval_covers_the_median_as_often_as_it_says():
    dice, hits, rounds = random.Random(1), 0, 400
    for _ in range(rounds):
        figures = describe([dice.expovariate(1.0) for _ in range(25)])
        hits += figures["ci_low"] <= 0.6931471805599453 <= figures["ci_high"]
    assert hits / rounds >= 0.93


def test_figures_are_the_samples():
    samples = [5.0, 1.0, 3.0, 100.0]
    figures = describe(samples)
    assert (figures["n"], figures["median"], figures["min"], figures["max"]) == (4, 4.0, 1.0, 100.0)
    assert figures["mean"] == statistics.fmean(samples)
    assert figures["std"] == pytest.approx(statistics.stdev(samples))
    assert describe([2.0])["std"] == 0.0
