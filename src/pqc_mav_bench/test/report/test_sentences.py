# SPDX-License-Identifier: Apache-2.0
"""Sentences never say what the numbers contradict."""

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_bench.analysis.scenarios import Overhead
from pqc_mav_bench.analysis.statistics import summarise
from pqc_mav_bench.report import sentences

NAMED = st.dictionaries(st.sampled_from("ABCDEFGH"), st.floats(0.01, 1e6), min_size=2, max_size=8)
TIMES = st.floats(1, 1e3)
NAMES = {"tst": "+ TST", "xgboost": "+ XGBoost"}


@settings(max_examples=150, deadline=None)
@given(NAMED)
def test_extremes_name_the_real_extremes(values):
    text = sentences.extremes(values, "thing", "u", "least", "most")
    low, high = min(values, key=values.get), max(values, key=values.get)
    if text.startswith("All "):
        assert values[high] <= values[low] * 1.02
    else:
        assert text.startswith(f"{low} has the least thing")
        assert f", {high} the most" in text


@settings(max_examples=150, deadline=None)
@given(NAMED)
def test_fastest_and_slowest_are_real(values):
    text = sentences.fastest_slowest(values, "handshake")
    low, high = min(values, key=values.get), max(values, key=values.get)
    assert text == "" or (text.startswith(f"{low} has the shortest handshake") and f", {high} the longest" in text)


@settings(max_examples=150, deadline=None)
@given(st.floats(0.1, 1e4), st.floats(0.1, 1e4))
def test_change_has_the_direction_of_the_numbers(value, base):
    text = sentences.change(value, base, "Load", "%")
    assert ("rises" in text) == (value > base and abs(value / base - 1) >= 0.05)
    assert ("falls" in text) == (value < base and abs(value / base - 1) >= 0.05)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["tst", "xgboost"]), st.floats(1, 1e3), st.floats(1, 1e3)), min_size=1, max_size=6
    )
)
def test_overhead_never_reverses_a_sign(triples):
    rows = [Overhead(f"G{i}", scenario, base, value) for i, (scenario, base, value) in enumerate(triples)]
    text = " ".join(sentences.overhead(rows, "handshake", NAMES))
    for row in rows:
        rises, falls = f"{row.group} rises" in text, f"{row.group} falls" in text
        assert rises == (row.delta_percent >= sentences.NOTICEABLE_PERCENT)
        assert falls == (row.delta_percent <= -sentences.NOTICEABLE_PERCENT)


def test_nothing_is_said_about_nothing():
    assert sentences.extremes({"a": 1.0}, "thing", "u") == ""
    assert sentences.fastest_slowest({"a": 1.0, "b": math.nan}, "thing") == ""
    assert sentences.change(math.nan, 1.0, "Load", "%") == ""
    assert sentences.overhead([], "handshake", NAMES) == []
    assert sentences.loss(pd.DataFrame({"sent_packets": [math.nan], "received_packets": [1.0]})) == ""
    assert sentences.correlation(math.nan, "x") == ""


@pytest.mark.parametrize(
    ("limit", "start"), [(0.5, "None of the 2 suites"), (2.0, "1 of 2 suites stays"), (9.0, "All 2 suites stay")]
)
def test_below_counts(values, limit, start):
    assert sentences.below(values, "handshake_ms", limit, "each", "ms").startswith(start)


def test_family_finding_is_weighed_not_assumed():
    near, far = {"a": summarise([1, 1]), "b": summarise([2, 2])}, {"c": summarise([1, 1]), "d": summarise([9, 9])}
    assert "holds here" in sentences.family_decides(far, near, {})
    assert "does not hold here" in sentences.family_decides(near, far, {})
    assert sentences.family_decides(near, {}, {}) == ""
    both = sentences.family_decides(far, near, far)
    assert "Between signature families they span 9" in both
    assert "so the signature's family decides at least as much" in both
    assert "at least as much" not in sentences.family_decides(far, near, near)


def test_a_tie_is_said_as_a_tie():
    assert sentences.told_apart(["A"], "the shortest handshake") == "A has the shortest handshake."
    assert sentences.told_apart(["A", "B"], "it") == (
        "A and B share it: their 95 % intervals overlap, so they are a tie."
    )
    assert sentences.told_apart(list("ABCDEF"), "it").startswith("A, B, C, D and 2 more share it")
    assert sentences.told_apart([], "it") == ""


def test_loss_names_the_worst_run_only_when_packets_were_lost():
    table = pd.DataFrame(
        {
            "suite": ["a", "b"],
            "scenario": ["x", "y"],
            "sent_packets": [100, 100],
            "received_packets": [100, 90],
            "loss_percent": [0.0, 10.0],
        }
    )
    assert "10 of 200 packets (5.0 %) were lost. The worst run is b (y)" in sentences.loss(table)
    assert sentences.loss(table.assign(received_packets=100)) == "None of 200 packets was lost."


def test_longer_suffer_more_needs_every_family():
    rising = [Overhead("a", "tst", 10, 12), Overhead("b", "tst", 100, 150)]
    assert sentences.longer_suffer_more(rising)
    assert sentences.longer_suffer_more([*rising, Overhead("c", "tst", 200, 210)]) == ""
    assert sentences.longer_suffer_more([]) == ""


def test_wide_within_needs_every_level():
    wide, narrow = summarise([1, 2, 50]), summarise([1, 2, 3])
    assert sentences.wide_within({"a": wide, "b": wide})
    assert sentences.wide_within({"a": wide, "b": narrow}) == ""


def test_skew_is_mentioned_only_where_it_is():
    skewed, even = summarise([1, 1, 1, 100]), summarise([5, 6, 7])
    assert "In Level 1 the mean" in sentences.spread({"Level 1": skewed, "Level 3": even}, "handshake")
    assert "mean" not in sentences.spread({"Level 1": even, "Level 3": summarise([50, 60, 70])}, "handshake")


@pytest.mark.parametrize(("r", "word"), [(0.9, "strong"), (-0.6, "moderate"), (0.3, "weak"), (0.05, "hardly any")])
def test_correlation_words(r, word):
    assert word in sentences.correlation(r, "tier and time", 0.94)
