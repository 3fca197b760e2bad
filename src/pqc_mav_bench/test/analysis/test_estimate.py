# SPDX-License-Identifier: Apache-2.0
"""Figures with intervals: what is told apart, and what no interval bears out."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_bench.analysis import estimate
from pqc_mav_bench.analysis.estimate import FEWEST_PAIRS, Estimate
from pqc_mav_bench.analysis.intervals import COUNT, HIGH, LOW, RUNS

TRIPLES = st.lists(st.floats(0.1, 1e3), min_size=3, max_size=3).map(sorted)
VALUES = st.dictionaries(
    st.sampled_from("ABCDEF"), TRIPLES.map(lambda each: Estimate(each[1], each[0], each[2])), min_size=2
)


def suites(*handshakes: float, n: float = 30.0) -> pd.DataFrame:
    frame = pd.DataFrame({"handshake_ms": handshakes})
    return frame.assign(**{LOW: frame["handshake_ms"] * 0.9, HIGH: frame["handshake_ms"] * 1.1, COUNT: n, RUNS: 3.0})


def test_the_least_comes_with_its_ties_and_so_does_the_most():
    values = {"a": Estimate(2, 1, 3), "b": Estimate(4, 2.9, 5), "c": Estimate(9, 8, 10), "d": Estimate(math.nan)}
    assert estimate.least(values) == ["a", "b"]
    assert estimate.most(values) == ["c"]


def test_without_an_interval_nothing_is_told_apart():
    values = {"a": Estimate(1), "b": Estimate(100, 99, 101)}
    assert estimate.least(values) == ["a", "b"]
    assert not estimate.span_ratio(values).has_interval
    assert not estimate.span_gap(values).has_interval
    assert not estimate.span_ratio({"a": Estimate(1, 0, 2), "b": Estimate(3, 2, 4)}).has_interval, "0 has no ratio"
    assert Estimate.exact(1).below(Estimate.exact(1.001))
    assert Estimate.exact(1).is_exact and not Estimate(1, 1, 2).is_exact and not Estimate(1, 0, 1).is_exact
    assert not Estimate(1, 0, math.nan).has_interval and not Estimate(1, math.nan, 2).has_interval
    assert not Estimate(2, 1, 3).below(Estimate(4, 3, 5)), "intervals that touch are a tie"


def test_spans_of_two_are_known_and_of_one_or_of_nothing_are_not():
    values = {"a": Estimate(2, 1, 3), "b": Estimate(5, 4, 7)}
    assert estimate.span_gap(values) == Estimate(3, 1, 6)
    assert estimate.span_ratio(values) == Estimate(2.5, 4 / 3, 7)
    for span in (estimate.span_gap, estimate.span_ratio):
        assert math.isnan(span({"a": Estimate(2, 1, 3)}).value) and math.isnan(span({}).value)
    assert math.isnan(estimate.span_ratio({"a": Estimate.exact(0), "b": Estimate.exact(1)}).value)


@settings(max_examples=200, deadline=None)
@given(VALUES, st.floats(0, 1))
def test_spans_enclose_whatever_the_intervals_allow(values, share):
    allowed = [each.low + share * (each.high - each.low) for each in values.values()]
    ratio, gap = estimate.span_ratio(values), estimate.span_gap(values)
    assert ratio.low <= ratio.value <= ratio.high
    assert ratio.low * (1 - 1e-9) <= max(allowed) / min(allowed) <= ratio.high * (1 + 1e-9)
    assert gap.low - 1e-9 <= max(allowed) - min(allowed) <= gap.high + 1e-9


@pytest.mark.parametrize(("how", "value"), [("median", 4.0), ("min", 2.0), ("max", 9.0), ("mean", 5.0)])
def test_a_group_of_suites_has_the_interval_of_its_members_ends(how, value):
    found = estimate.of_suites(suites(2.0, 4.0, 9.0), how)
    assert (found.value, found.low, found.high) == pytest.approx((value, 0.9 * value, 1.1 * value))


def test_suites_with_few_handshakes_have_no_interval_and_printed_ones_are_exact():
    assert not estimate.of_suites(suites(2.0, 4.0, n=29.0)).has_interval
    assert estimate.of_suites(pd.DataFrame({"handshake_ms": [2.0, 4.0]})) == Estimate.exact(3.0)
    assert math.isnan(estimate.of_suites(suites()).value)


def test_one_run_does_not_tell_how_far_runs_differ():
    assert not estimate.of_runs([[1.0] * 30]).has_interval
    two = estimate.of_runs([[1.0] * 30, [2.0] * 30])
    assert two.value == 1.5 and two.low < 1.0 < 2.0 < two.high
    assert math.isnan(estimate.of_runs([[math.nan]]).value)


def test_pairs_not_runs_are_what_counts():
    rows = pd.DataFrame({"kem": [f"k{i // 3}" for i in range(18)], "sig": "s", "cpu": [10.0 + i for i in range(18)]})
    enough = estimate.of_pairs(rows, "cpu")
    assert enough.has_interval and enough.low < enough.value < enough.high
    assert not estimate.of_pairs(rows[rows["kem"] != "k0"], "cpu").has_interval, f"{FEWEST_PAIRS} pairs are the fewest"
    assert math.isnan(estimate.of_pairs(rows.assign(cpu=math.nan), "cpu").value)


def test_one_figure_a_run_takes_six_of_them():
    assert not estimate.of_values([1.0] * 5).has_interval
    assert estimate.of_values([1, 2, 3, 4, 5, 6]) == Estimate(3.5, 1, 6)
