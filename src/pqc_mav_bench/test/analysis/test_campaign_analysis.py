# SPDX-License-Identifier: Apache-2.0
"""The tidy table, scenarios, recommendation and comparison."""

import math

import pandas as pd
import pytest

from pqc_mav_bench import tidy
from pqc_mav_bench.analysis import adapt, compare, complexity, recommend, scenarios, table, tier
from pqc_mav_bench.analysis.intervals import COUNT, HIGH, LOW, RUNS
from pqc_mav_bench.analysis.published.campaigns import pi4_2025
from pqc_mav_bench.schema.run import RunMetrics


def row(suite, handshake, scenario="baseline", **more):
    base = {"scenario": scenario, "suite": suite, "kem_family": "ML-KEM", "nist_level": 3, "aead": "AES-256-GCM"}
    return base | {"handshake_ms": handshake} | more


def test_every_column_the_adapter_reads_is_in_the_schema():
    wanted = {column for column, _ in adapt.NUMBERS.values()} | set(adapt.TEXTS.values())
    assert wanted <= set(tidy.columns())


def test_adapter_takes_units_over():
    run = RunMetrics()
    run.run_context.suite_id, run.run_context.scenario, run.run_context.repetition = "cs-a", "baseline", 2
    run.crypto_identity.kem_family, run.crypto_identity.kem_nist_level = "Classic-McEliece", 5
    run.handshake.handshake_ms, run.workload.loss_ratio, run.data_plane.seal_mean_ns = 12.5, 0.25, 1500.0
    run.workload.goodput_mbps, run.workload.sent_mbps = 2.0, 8.0
    run.lifecycle.success = True
    got = adapt.from_tidy(tidy.frame([tidy.row(run, "x/metrics.json")])).iloc[0]
    assert (got.handshake_ms, got.loss_percent, got.seal_mean_us, got.goodput_percent) == (12.5, 25.0, 1.5, 25.0)
    assert (got.repetition, got.nist_level, got.kem_family) == (2, 5, "Classic-McEliece")
    assert bool(got.passed)
    assert math.isnan(got.power_mean_w)


def test_adapter_names_the_column_that_is_missing():
    with pytest.raises(ValueError, match=r"handshake\.handshake_ms"):
        adapt.from_tidy(tidy.frame([]).drop(columns="handshake.handshake_ms"))


def test_table_without_identity_is_refused():
    with pytest.raises(ValueError, match="nist_level"):
        table.complete(pd.DataFrame({"suite": ["a"], "scenario": ["baseline"], "kem_family": ["HQC"]}))


def test_per_suite_takes_medians_of_passed_repetitions():
    runs = [row("a", 1.0, repetition=1), row("a", 3.0, repetition=2), row("a", 900.0, repetition=3, passed=False)]
    suites = table.per_suite(table.complete(pd.DataFrame(runs).assign(passed=[True, True, False])))
    assert suites["handshake_ms"].tolist() == [2.0]
    assert suites["repetitions"].tolist() == [2]


def test_scenarios_keep_their_order():
    runs = table.complete(pd.DataFrame([row("a", 1.0, s) for s in ("tst", "zeta", "xgboost", "baseline")]))
    assert list(table.wide(runs, "handshake_ms").columns) == ["baseline", "xgboost", "tst", "zeta"]
    assert not table.has(runs, "power_mean_w")


def test_detector_overhead_needs_both_sides():
    runs = pd.DataFrame([row("a", 10.0), row("a", 12.0, "tst"), row("b", 5.0, "tst", kem_family="HQC")])
    (only,) = scenarios.detector_overhead(table.complete(runs))
    assert (only.group, only.delta, only.delta_percent) == ("ML-KEM", 2.0, 20.0)


def test_cross_scenario_counts_failures_without_their_times():
    runs = table.complete(pd.DataFrame([row("a", 10.0), row("b", 48_000.0)])).assign(passed=[True, False])
    (only,) = scenarios.cross_scenario(runs).values()
    assert (only[scenarios.PASSED], only["Mean handshake (ms)"]) == ("1 / 2", 10.0)


def test_tier_correlation_of_a_perfect_order():
    runs = [row(f"s{level}", 10.0**level, nist_level=level) for level in (1, 3, 5)]
    pearson, spearman = tier.correlation(table.complete(pd.DataFrame(runs)))
    assert spearman == pytest.approx(1)
    assert pearson < 1
    assert tier.tier(3, "FrodoKEM", "AES-256-GCM") is None


def test_recommendation_prefers_speed_and_refuses_loss():
    suites = table.complete(
        pd.DataFrame(
            [
                row("lossy", 1.0, loss_percent=9.0),
                row("good", 5.0, loss_percent=0.0),
                row("slow", 80.0, loss_percent=0.0),
            ]
        )
    )
    choices = {choice.use: choice for choice in recommend.recommend(suites)}
    assert choices["default"].suite == "good"
    assert choices["default"].candidates == 1
    assert choices["high assurance"].suite == ""


def test_a_standard_comes_first_and_a_shorter_draft_is_named_only_where_it_surely_is():
    parts = {"kem": "ML-KEM-768", "aead": "AES-256-GCM"}
    suites = table.complete(
        pd.DataFrame(
            [
                row("standard", 10.0, loss_percent=0.0, sig="ML-DSA-65", **parts),
                row("draft", 5.0, loss_percent=0.0, sig="SPHINCS+-192s", **parts),
            ]
        )
    )
    (default,) = [x for x in recommend.recommend(with_ends(suites, [9.0, 4.0], [11.0, 6.0])) if x.use == "default"]
    assert (default.suite, default.tied, default.quicker) == ("standard", (), "draft")
    (default,) = [x for x in recommend.recommend(with_ends(suites, [9.0, 4.0], [11.0, 12.0])) if x.use == "default"]
    assert (default.suite, default.quicker) == ("standard", "")


def test_decision_matrix_of_the_2025_campaign():
    suites = table.scenario(pi4_2025(), "baseline")
    matrix = recommend.decision_matrix(suites).set_index("suite")
    assert matrix.at["cs-mlkem768-aesgcm-mldsa65", "verdict"] in ("time-critical control", "control")
    assert matrix.at["cs-hqc256-chacha20poly1305-mldsa87", "handshake_ms"] > 0
    uses = {"time-critical control", "control", "telemetry", "flight with care", "ground only", "avoid"}
    assert set(matrix["verdict"]) <= uses
    critical = matrix["verdict"] == "time-critical control"
    assert critical.any() and (matrix.loc[critical, "handshake_ms"] <= recommend.TIME_CRITICAL_MS).all()
    assert (matrix["rekey_interval_s"] >= recommend.SHORTEST_INTERVAL_S).all()


def with_ends(suites, low, high, n=30.0):
    return suites.assign(**{LOW: low, HIGH: high, COUNT: n, RUNS: 3.0})


def test_an_interval_over_two_verdicts_or_classes_has_both():
    suites = table.complete(pd.DataFrame([row("a", 40.0, loss_percent=0.0), row("b", 40.0, loss_percent=0.0)]))
    suites = with_ends(suites, [35.0, 35.0], [45.0, 60.0])
    matrix = recommend.decision_matrix(suites).set_index("suite")
    assert matrix["verdict"].to_dict() == {"a": "control", "b": "control or telemetry"}
    longer = suites.assign(**{HIGH: [200.0, 400.0]})
    assert recommend.decision_matrix(longer)["rekey_interval_s"].tolist() == pytest.approx([199.8, 399.6])
    assert complexity.classes(suites)["complexity_class"].tolist() == ["Low", "Low or Medium"]
    few = recommend.decision_matrix(suites.assign(**{COUNT: 29.0}))
    assert few["verdict"].tolist() == ["", ""]
    assert few["rekey_interval_s"].isna().all()


def test_a_loss_near_the_limit_is_not_decided():
    counted = {"loss_percent": 3.2, "sent_packets": 1000, "received_packets": 968}
    suites = with_ends(table.complete(pd.DataFrame([row("a", 40.0, **counted)])), 39.0, 41.0)
    assert recommend.decision_matrix(suites)["verdict"].tolist() == ["control or avoid"]


def test_a_suite_is_recommended_only_where_its_interval_keeps_the_limit():
    suites = table.complete(pd.DataFrame([row("maybe", 45.0, loss_percent=0.0), row("surely", 48.0, loss_percent=0.0)]))
    choices = recommend.recommend(with_ends(suites, [30.0, 47.0], [60.0, 49.0]))
    default = next(choice for choice in choices if choice.use == "default")
    assert (default.suite, default.candidates) == ("surely", 1)


def test_a_correlation_has_an_interval_over_pairs():
    rows = [
        row(f"s{i}{aead}", 10.0**level * (1 + 0.1 * i), nist_level=level, kem=f"k{i}", sig="s", aead=aead)
        for i, level in enumerate((1, 3, 5) * 3)
        for aead in ("AES-256-GCM", "Ascon-128a")
    ]
    _, ranks = tier.correlations(table.complete(pd.DataFrame(rows)))
    assert ranks.has_interval and 0.5 < ranks.low <= ranks.value <= ranks.high <= 1
    assert not tier.correlations(table.complete(pd.DataFrame(rows[:8])))[0].has_interval, "four pairs"


def test_classes_are_empty_for_unknown_sizes():
    known = complexity.classes(table.complete(pd.DataFrame([row("a", 10.0)])))
    assert known[["storage_class", "complexity_class"]].iloc[0].tolist() == ["", "Low"]


def test_comparison_flags_only_what_the_machine_does_not_explain():
    a = table.complete(pd.DataFrame([row(f"s{i}", 10.0 + i) for i in range(10)]))
    b = a.assign(handshake_ms=a["handshake_ms"] / 4)
    assert compare.compare(a, b).flagged.empty
    b.loc[3, "handshake_ms"] *= 5
    result = compare.compare(a, b)
    assert result.typical == pytest.approx(4)
    assert result.flagged["suite"].tolist() == ["s3"]


@pytest.mark.parametrize(
    ("least", "most", "flagged"),
    [(-0.49, 1.09, []), (-0.51, 1.09, ["s0"]), (-0.49, 1.11, ["s8"]), (-0.51, 1.11, ["s0", "s8"])],
)
def test_a_ratio_is_flagged_beyond_one_and_a_half_interquartile_ranges(least, most, flagged):
    """The quartiles of the logarithms are 0.1 and 0.5, so that the limits are -0.5 and 1.1."""
    logs = [least, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, most]
    a = table.complete(pd.DataFrame([row(f"s{i}", 0.5 * math.exp(each)) for i, each in enumerate(logs)]))
    result = compare.compare(a, a.assign(handshake_ms=0.5))
    assert result.flagged["suite"].tolist() == flagged


def test_what_took_no_time_has_no_ratio():
    a = table.complete(pd.DataFrame([row("x", 0.5), row("y", 0.0)]))
    result = compare.compare(a, a)
    assert (result.rows["suite"].tolist(), result.typical) == (["x"], 1.0)


def test_comparison_names_what_one_side_lacks():
    a = table.complete(pd.DataFrame([row("x", 1.0), row("y", 2.0)]))
    result = compare.compare(a, a[a["suite"] == "x"])
    assert result.only_a == ("baseline y",)
    assert result.only_b == ()


def test_comparison_of_nothing_in_common():
    a, b = (table.complete(pd.DataFrame([row(name, 1.0)])) for name in ("x", "y"))
    result = compare.compare(a, b)
    assert result.rows.empty
    assert math.isnan(result.typical)


def test_wide_spread_hides_no_outlier_but_flags_no_ordinary_suite():
    a = table.complete(pd.DataFrame([row(f"s{i}", 10.0 * 1.3**i) for i in range(20)]))
    b = a.assign(handshake_ms=10.0)
    assert compare.compare(a, b).flagged.empty
    b.loc[0, "handshake_ms"] = 1e4
    assert compare.compare(a, b).flagged["suite"].tolist() == ["s0"]


def test_rank_leaves_out_what_was_not_measured():
    suites = pd.DataFrame({"suite": ["a", "b", "c"], "t": [2.0, math.nan, 1.0]})
    ranked = table.rank(suites, "t")
    assert list(ranked["suite"]) == ["c", "a"]
    assert list(ranked["rank"]) == [1, 2]
