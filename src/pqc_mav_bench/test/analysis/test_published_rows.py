# SPDX-License-Identifier: Apache-2.0
"""The analysis functions against the published tables, row by row."""

import pytest
from recomputed import printed_only

from pqc_mav_bench.analysis import complexity, energy, pareto, rekey, reliability, scenarios, statistics, table, tier
from pqc_mav_bench.analysis.published.campaigns import pi4_2025, pi5_summary
from pqc_mav_bench.analysis.published.source import table as published


def rows(name):
    return list(published(name).itertuples(index=False))


@pytest.fixture(scope="module")
def campaign():
    return pi4_2025()


def test_resilience_and_adaptive_flag(campaign):
    scored = reliability.loss_ranking(table.wide(campaign, "loss_percent"))
    printed = rows("rpi4_loss_resilience")
    assert len(printed) == 20
    for row in printed:
        assert scored.at[row.suite, "resilience"] == pytest.approx(row.resilience_score, abs=0.0501)
        assert bool(scored.at[row.suite, "adaptive"]) is bool(row.adaptive)
    assert list(scored.index[:10]) == [row.suite for row in printed[:10]]


def test_energy_per_bit_ranking(campaign):
    ranked = energy.per_bit_ranking(table.scenario(campaign, "baseline")).set_index("suite")
    for row in rows("rpi4_energy_per_bit_ranking"):
        assert ranked.at[row.suite, "rank"] == row.rank
        assert ranked.at[row.suite, "energy_per_bit_nj"] == pytest.approx(row.energy_per_bit_nJ, rel=0.0025)
        assert energy.energy_j(ranked.at[row.suite, "power_mean_w"], 45) == pytest.approx(row.energy_J, abs=0.1)


def test_energy_is_power_times_the_session(campaign):
    for row in campaign.itertuples():
        assert energy.energy_j(row.power_mean_w, 45) == pytest.approx(row.energy_j, abs=0.03)


def test_loss_intervals_hold_the_printed_loss(campaign):
    for row in campaign.itertuples():
        sent = int(row.sent_packets)
        low, high = reliability.wilson_percent(sent - int(row.received_packets), sent)
        assert low <= row.loss_percent + 5e-4
        assert high >= row.loss_percent - 5e-4


def test_complexity_classes():
    for row in rows("rpi4_complexity_class"):
        assert complexity.complexity_class(row.handshake_ms) == row.complexity_class


def test_phi_of_both_pareto_tables():
    for row in rows("rpi5_pareto_report"):
        assert rekey.phi_percent(row.handshake_ms, 60) == pytest.approx(row.phi_R60s_pct, abs=5.1e-5)


def test_the_published_frontier_is_the_fastest_of_each_level():
    suites = published("rpi5_pareto_report")
    assert list(pareto.fastest_per_level(suites)["suite"]) == list(suites["suite"])
    # Its L5 suite is faster than both others, so by the definition the document states it is the only one.
    assert list(pareto.frontier(suites)["suite"]) == ["cs-mlkem1024-aesgcm-falcon1024"]


def test_tiers_of_all_triples():
    printed = rows("derived_tier_function_27")
    assert len(printed) == 27
    for row in printed:
        family = {"McEliece": "Classic-McEliece"}.get(row.kem_family, row.kem_family)
        assert tier.tier(row.nist_level, family, row.aead) == row.tier


def test_detector_overhead_of_the_printed_medians():
    for row in rows("rpi5_ddos_overhead_report"):
        overhead = scenarios.Overhead(row.kem_family, row.detector, row.baseline_median_ms, row.with_detector_median_ms)
        assert overhead.delta == pytest.approx(row.delta_ms, abs=0.1501)
        assert overhead.delta_percent == pytest.approx(row.delta_pct, abs=0.75)


def test_level_aggregates_of_the_printed_level(campaign):
    modes = published("rpi4_suites_all_modes")
    for row in rows("rpi4_nist_level_aggregate"):
        group = modes[modes["nist_level_printed"] == row.nist_level_printed]
        summary = statistics.summarise(group["handshake_baseline_ms"])
        assert (summary.n, summary.minimum, summary.maximum) == (row.suites, row.handshake_min_ms, row.handshake_max_ms)
        assert summary.mean == pytest.approx(row.handshake_avg_ms, abs=0.051)


def test_weighted_means_of_both_groupings_are_the_overall_mean():
    for key in ("nist_level", "kem_family"):
        groups = pi5_summary(key)
        assert printed_only.weighted_mean(list(groups["mean_ms"]), list(groups["n"])) == pytest.approx(1244.1, abs=0.05)


def test_campaign_covers_all_suites_and_scenarios(campaign):
    assert campaign.groupby("scenario").size().to_dict() == {"baseline": 30, "xgboost": 30, "tst": 30}
    assert campaign["nist_level"].isin(table.LEVELS).all()
    assert set(campaign["kem"]) >= {"ML-KEM-768", "FrodoKEM-640", "HQC-256", "Classic-McEliece-8192128"}
    assert set(campaign["sig"]) >= {"ML-DSA-65", "Falcon-512", "SPHINCS+-256f"}
    assert campaign.groupby("scenario")["handshake_ms"].count().to_dict() == {"baseline": 30, "tst": 0, "xgboost": 30}
