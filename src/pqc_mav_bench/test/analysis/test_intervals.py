# SPDX-License-Identifier: Apache-2.0
"""What can be told apart, and what cannot."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from pqc_mav_bench.analysis import intervals
from pqc_mav_bench.analysis.intervals import COUNT, HIGH, LOW, OWN, RUNS
from pqc_mav_bench.analysis.statistics import FEWEST_FOR_AN_INTERVAL


def suites(*rows: tuple[str, float, float, float]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["suite", LOW, "handshake_ms", HIGH])
    return frame.assign(scenario="baseline", **{COUNT: 30.0, RUNS: 3.0})


def single(**runs: list[list[float]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"scenario": "baseline", "suite": suite, "repetition": run, "number": number, "handshake_ms": value}
            for suite, values in runs.items()
            for run, of_run in enumerate(values, 1)
            for number, value in enumerate(of_run, 1)
        ]
    )


def test_overlapping_intervals_are_a_tie():
    table = suites(("a", 1.0, 2.0, 3.0), ("b", 2.9, 4.0, 5.0), ("c", 3.1, 4.5, 6.0))
    assert intervals.tied_with_the_least(table)["suite"].tolist() == ["a", "b"]
    ranges = intervals.with_rank_ranges(table)
    assert ranges[["suite", "rank_from", "rank_to"]].to_numpy().tolist() == [["a", 1, 2], ["b", 1, 3], ["c", 2, 3]]


def test_intervals_that_touch_are_a_tie():
    table = suites(("a", 1.0, 2.0, 3.0), ("b", 3.0, 4.0, 5.0))
    assert intervals.tied_with_the_least(table)["suite"].tolist() == ["a", "b"]
    assert intervals.with_rank_ranges(table)[["rank_from", "rank_to"]].to_numpy().tolist() == [[1, 2], [1, 2]]


def test_the_least_is_alone_where_it_is_told_apart():
    table = suites(("b", 4.0, 5.0, 6.0), ("a", 1.0, 2.0, 3.0))
    assert intervals.tied_with_the_least(table)["suite"].tolist() == ["a"]


def test_too_few_handshakes_are_not_ranked_and_have_no_interval():
    table = pd.DataFrame(
        {"scenario": "baseline", "suite": ["a", "b"], "handshake_ms": [1.0, 2.0], "kem": "", "sig": ""}
    )
    found = intervals.attach(table, single(a=[[1.0] * 14, [1.0] * 15], b=[[2.0] * 15] * 2))
    assert intervals.is_ranked(found).tolist() == [False, True]
    none = intervals.attach(table, single(a=[[1.0] * 5]))
    assert math.isnan(none[LOW].iloc[0])
    assert none[COUNT].tolist() == [5.0, 0.0]
    assert intervals.is_ranked(table).all(), "published figures are as they were printed"


def test_suites_that_differ_in_the_cipher_alone_share_an_interval():
    names = ["a-aes", "a-chacha", "b-aes"]
    table = pd.DataFrame({"scenario": "baseline", "suite": names, "kem": ["A", "A", "B"], "sig": "S"})
    table = table.assign(handshake_ms=[3.0, 5.0, 9.0], handshake_bytes=[100.0, 104.0, 300.0])
    found = intervals.attach(table, single(**{"a-aes": [[3.0] * 30], "a-chacha": [[5.0] * 30], "b-aes": [[9.0] * 30]}))
    aes, chacha, alone = found[["handshake_ms", LOW, HIGH, RUNS]].to_numpy().tolist()
    assert aes == chacha and (aes[0], aes[3]) == (4.0, 2.0), (
        "point and interval are of the pair, not of the luckier one"
    )
    assert found[OWN].tolist() == [3.0, 5.0, 9.0] and found["handshake_bytes"].tolist() == [102.0, 102.0, 300.0]
    assert alone[0] == 9.0 and math.isnan(alone[1])
    assert intervals.is_ranked(found).tolist() == [True, True, False], "one run does not tell how far runs differ"


def test_ends_are_of_what_is_ranked_and_printed_figures_are_their_own():
    table = suites(("a", 1.0, 2.0, 3.0), ("b", 2.0, 4.0, 6.0)).assign(**{COUNT: [30.0, 29.0]})
    (known, few) = intervals.ends(table)
    assert known == (1.0, 3.0) and all(map(math.isnan, few))
    assert intervals.ends(pd.DataFrame({"handshake_ms": [2.5]})) == [(2.5, 2.5)]
    assert (intervals.either("1", "1"), intervals.either("1", "2")) == ("1", "1 or 2")


def test_runs_that_differ_widen_the_interval_and_one_has_none():
    quiet, busy = [10.0 + 0.01 * i for i in range(30)], [20.0 + 0.01 * i for i in range(30)]
    middle, low, high = intervals.run_median([quiet, busy, busy])
    assert low < 10.145 < 20.145 == middle < high
    assert math.isnan(intervals.run_median([quiet])[1])
    assert intervals.run_median([quiet] * 5 + [busy])[1:] == (10.145, 20.145)
    assert math.isnan(intervals.run_median([[0.0], [1.0]])[1]), "without logarithms few runs tell nothing"
    with pytest.raises(ValueError, match="needs a value"):
        intervals.run_median([[]])


@pytest.mark.parametrize("runs", intervals.FEW_RUNS)
def test_the_factor_for_few_runs_is_that_of_normal_samples(runs):
    drawn = np.random.default_rng(3).normal(size=(400_000, runs))
    ratios = np.abs(np.median(drawn, axis=1)) / np.std(drawn, axis=1, ddof=1)
    assert intervals.FEW_RUNS[runs] == pytest.approx(np.quantile(ratios, 0.95), rel=0.02)


@pytest.mark.parametrize("runs", [2, 3, 4, 5, 6, 9])
def test_intervals_enclose_the_median_as_often_as_they_say(runs):
    dice = np.random.default_rng(7)
    trials = 4000
    drawn = dice.lognormal(1.0, 0.5, (trials, runs))
    ends = [intervals.run_median(each[:, None])[1:] for each in drawn]
    hits = sum(low <= math.e <= high for low, high in ends)
    assert 0.94 <= hits / trials <= (0.96 if runs < FEWEST_FOR_AN_INTERVAL else 1)
