# SPDX-License-Identifier: Apache-2.0
"""Sentences never say what the numbers contradict."""

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_bench.analysis.detector_effect import Effect
from pqc_mav_bench.analysis.estimate import Estimate
from pqc_mav_bench.analysis.intervals import COUNT, HIGH, LOW, RUNS
from pqc_mav_bench.analysis.scenarios import Overhead
from pqc_mav_bench.report import sentences

NAMED = st.dictionaries(st.sampled_from("ABCDEFGH"), st.floats(0.01, 1e6), min_size=2, max_size=8)
TIMES = st.floats(1, 1e3)
NAMES = {"tst": "+ TST", "xgboost": "+ XGBoost"}


def exact(values):
    return {name: Estimate.exact(value) for name, value in values.items()}


@settings(max_examples=150, deadline=None)
@given(NAMED)
def test_extremes_name_the_real_extremes(values):
    text = sentences.extremes(exact(values), "thing", "u", "least", "most")
    low, high = min(values, key=values.get), max(values, key=values.get)
    if text.startswith("All "):
        assert values[high] <= values[low] * 1.02
    else:
        assert text.startswith(f"{low} ")
        assert " the least thing" in text
        assert f", {high} " in text and " the most (" in text


@settings(max_examples=150, deadline=None)
@given(NAMED)
def test_fastest_and_slowest_are_real(values):
    text = sentences.fastest_slowest(exact(values), "handshake")
    low, high = min(values, key=values.get), max(values, key=values.get)
    assert text == "" or (text.startswith(f"{low} ") and f", {high} " in text and " the longest (" in text)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from("ABCDEF"), st.tuples(st.floats(1, 100), st.floats(1, 3)), min_size=2))
def test_an_order_is_claimed_only_of_what_intervals_separate(values):
    found = {name: Estimate(value, value / wide, value * wide) for name, (value, wide) in values.items()}
    text = sentences.fastest_slowest(found, "handshake")
    low, high = min(found, key=lambda n: found[n].value), max(found, key=lambda n: found[n].value)
    if "the longest" in text:
        assert found[low].high < found[high].low
        first = text.split(" the shortest")[0]
        for name, each in found.items():
            if name != low and each.low <= found[low].high:
                assert name in first or "more" in first, "a tie is named"
    else:
        assert text == "" or "a tie" in text


def test_without_intervals_there_is_a_range_and_no_order():
    text = sentences.extremes({"A": Estimate(1.0), "B": Estimate(9.0)}, "load", "%")
    assert text.startswith("The load lies between 1.00 % and 9.00 %; not all have the runs")
    assert "least" not in text and "A" not in text


@settings(max_examples=150, deadline=None)
@given(st.floats(0.1, 1e4), st.floats(0.1, 1e4))
def test_a_printed_change_has_the_direction_of_the_numbers(value, base):
    text = sentences.printed_change(value, base, "Load", "%")
    assert ("rises" in text) == (value > base and abs(value / base - 1) >= 0.05)
    assert ("falls" in text) == (value < base and abs(value / base - 1) >= 0.05)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["tst", "xgboost"]), st.floats(1, 1e3), st.floats(1, 1e3)), min_size=1, max_size=6
    )
)
def test_printed_overhead_never_reverses_a_sign(triples):
    rows = [Overhead(f"G{i}", scenario, base, value) for i, (scenario, base, value) in enumerate(triples)]
    text = " ".join(sentences.printed_overhead(rows, "handshake", NAMES))
    for row in rows:
        rises, falls = f"{row.group} rises" in text, f"{row.group} falls" in text
        assert rises == (row.delta_percent >= sentences.NOTICEABLE_PERCENT)
        assert falls == (row.delta_percent <= -sentences.NOTICEABLE_PERCENT)


def test_nothing_is_said_about_nothing():
    assert sentences.extremes(exact({"a": 1.0}), "thing", "u") == ""
    assert sentences.fastest_slowest(exact({"a": 1.0, "b": math.nan}), "thing") == ""
    assert sentences.printed_change(math.nan, 1.0, "Load", "%") == ""
    assert sentences.printed_overhead([], "handshake", NAMES) == []
    assert sentences.loss(pd.DataFrame({"sent_packets": [math.nan], "received_packets": [1.0]})) == ""
    assert sentences.correlation(Estimate(math.nan), "x") == ""


@pytest.mark.parametrize(
    ("limit", "start"), [(0.5, "None of the 2 suites"), (2.0, "1 of 2 suites stays"), (9.0, "All 2 suites stay")]
)
def test_below_counts(values, limit, start):
    assert sentences.below(values, "handshake_ms", limit, "each", "ms").startswith(start)


def test_family_finding_is_weighed_not_assumed():
    near, far = exact({"a": 1, "b": 2}), exact({"c": 1, "d": 9})
    assert "holds here" in sentences.family_decides(far, near, {})
    assert "does not hold here" in sentences.family_decides(near, far, {})
    assert sentences.family_decides(near, {}, {}) == ""
    both = sentences.family_decides(far, near, far)
    assert "Between signature families they span 9" in both
    assert "so the signature's family decides at least as much" in both
    assert "at least as much" not in sentences.family_decides(far, near, near)


def test_family_finding_is_left_open_where_intervals_do_not_tell():
    two, three = ({"a": Estimate(1, 0.8, 1.2), "b": Estimate(n, n * 0.8, n * 1.2)} for n in (2, 3))
    text = sentences.family_decides(three, two, three)
    assert text.startswith("Whether the published finding that the KEM family matters more than the level holds cannot")
    assert "which of the two kinds of families decides more cannot be told" in text
    assert sentences.family_decides({"a": Estimate(1), "b": Estimate(9)}, two, two) == "", "no interval, no finding"


def effect(scenario, low, high, pairs=8):
    return Effect(scenario, (low + high) / 2, low, high, pairs, 0.5 if low < 1 < high else 0.01)


def test_a_detectors_effect_is_said_of_families_that_intervals_separate():
    found = {"ML-KEM": [effect("tst", 1.1, 1.3)], "HQC": [effect("tst", 0.9, 1.2)], "FrodoKEM": []}
    (text,) = sentences.family_effects(found, NAMES)
    assert text == (
        "Under + TST, handshakes take a multiple of the time without a detector, those of ML-KEM 1.20 times (95 % "
        "interval 1.10 to 1.30, over 8 pairs; p = 0.010); handshakes of HQC (95 % interval 0.900 to 1.20, over 8 "
        "pairs; p = 0.50) cannot be told apart from those without a detector; FrodoKEM has too few pairs for an "
        "interval."
    )
    assert sentences.family_effects({"ML-KEM": []}, NAMES) == []


def test_a_ratio_is_not_rounded_into_a_tie():
    assert [sentences.ratio_text(ratio) for ratio in (1.00014, 0.99996, 1.2, 1)] == ["1.0001", "0.99996", "1.20", "1"]


def test_a_load_is_compared_with_its_interval():
    assert "Average CPU under + TST is 1.20 times that" in sentences.compared(
        effect("tst", 1.1, 1.3), "Average CPU", "+ TST"
    )
    assert "cannot be told apart" in sentences.compared(effect("tst", 0.9, 1.3), "Average CPU", "+ TST")


def test_what_matters_more_takes_intervals_that_are_apart():
    near = {"a": Estimate(10, 9.9, 10.1), "b": Estimate(11, 10.9, 11.1)}
    far = {"c": Estimate(10, 9.9, 10.1), "d": Estimate(20, 19.9, 20.1)}
    text = sentences.stronger(("scenario", far), ("KEM family", near), "load", "points")
    assert text.startswith("The scenario matters more for the load than the KEM family: it differs by 10.0 points (9.8")
    assert "between scenarios and 1.00 points" in text and text.endswith("between KEM families.")
    assert "cannot be told" in sentences.stronger(("scenario", near), ("KEM family", near), "load", "points")
    assert sentences.stronger(("scenario", {"a": Estimate(1), "b": Estimate(2)}), ("x", near), "load", "") == ""


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
    assert "10 of 200 packets (5.0 %) were lost. The run that lost most, b (y), lost 10.0 %" in sentences.loss(table)
    assert sentences.loss(table.assign(received_packets=100)) == "None of 200 packets was lost."


def test_longer_suffer_more_needs_every_family_and_its_intervals():
    def family(base, more, wide=0.1):
        return Estimate(base, base - wide, base + wide), Estimate(more, more - wide, more + wide)

    rising = [family(10, 2), family(100, 50)]
    assert sentences.longer_suffer_more({"tst": rising})
    assert sentences.longer_suffer_more({"tst": [*rising, family(200, 10)]}) == ""
    assert sentences.longer_suffer_more({"tst": [family(10, 2, 3), family(100, 4, 3)]}) == "", "the intervals overlap"
    assert sentences.longer_suffer_more({"tst": [*rising, (Estimate(200), Estimate(math.nan))]}) == ""
    assert sentences.longer_suffer_more({}) == ""


def test_wide_within_needs_every_level():
    one, fifty, three = (exact({"a": value, "b": value}) for value in (1, 50, 3))
    assert sentences.wide_within(one, fifty)
    assert sentences.wide_within(one, {**fifty, "b": three["b"]}) == ""
    assert sentences.wide_within(one, {**fifty, "b": Estimate(50, 4, 90)}) == "", "it may be below five times"
    assert sentences.wide_within(one, {**fifty, "b": Estimate(50)}) == ""


def test_skew_is_mentioned_only_where_it_surely_is():
    medians, means = exact({"Level 1": 1, "Level 3": 6}), exact({"Level 1": 26, "Level 3": 6})
    sizes = {"Level 1": 4, "Level 3": 3}
    assert "In Level 1 the mean" in sentences.spread(medians, means, sizes, "handshake")
    assert "mean" not in sentences.spread(medians, medians, sizes, "handshake")
    unsure = {**means, "Level 1": Estimate(26, 1, 50)}
    assert "mean" not in sentences.spread(medians, unsure, sizes, "handshake")


@pytest.mark.parametrize(("r", "word"), [(0.9, "strong"), (-0.6, "moderate"), (0.3, "weak"), (0.05, "hardly any")])
def test_correlation_words(r, word):
    assert word in sentences.correlation(Estimate(r, r - 0.04, r + 0.04), "tier and time", 0.94)


def test_a_correlation_is_named_only_where_its_interval_allows():
    assert "cannot be told (r = 0.60, 95 % interval 0.10 to 0.90)" in sentences.correlation(
        Estimate(0.6, 0.1, 0.9), "tier and time"
    )
    assert "has no interval (r = 0.60)" in sentences.correlation(Estimate(0.6), "tier and time")
    assert "cannot be told" in sentences.correlation(Estimate(0.0, -0.9, 0.9), "tier and time")


def test_a_limit_inside_an_interval_is_not_decided():
    table = pd.DataFrame({"handshake_ms": [1.0, 9.0, 30.0], LOW: [0.9, 8.0, 29.0], HIGH: [1.1, 12.0, 31.0]})
    table = table.assign(**{COUNT: 30.0, RUNS: 3.0})
    text = sentences.below(table, "handshake_ms", 10.0, "each", "ms")
    assert text == "1 of 3 suites stays below 10.0 ms each; of 1 more the 95 % interval holds that limit."
    assert sentences.below(table.assign(**{COUNT: 29.0}), "handshake_ms", 10.0, "each", "ms") == ""
