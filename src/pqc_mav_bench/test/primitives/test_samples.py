# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
import statistics

import pytest

from pqc_mav_bench.primitives.samples import describe


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
