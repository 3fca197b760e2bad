# SPDX-License-Identifier: Apache-2.0
"""What the report ranks and recommends: only what enough handshakes and their intervals bear out."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from pqc_mav_bench.report.answer import answer
from pqc_mav_bench.report.blocks import Notice, Table
from pqc_mav_bench.report.frame import limitations, summary
from pqc_mav_bench.report.numbers import MISSING
from pqc_mav_bench.report.sections.aeads import aeads
from pqc_mav_bench.report.sections.detectors import detector_overhead
from pqc_mav_bench.report.sections.flight_budget import flight_budget
from pqc_mav_bench.report.sections.handshakes import handshake_ranking, pareto_frontier
from pqc_mav_bench.report.sections.power_load_delay import suite_power
from pqc_mav_bench.report.sections.suite_tables import suite_tables


def table(section, name):
    return next(block for block in section.blocks if isinstance(block, Table) and block.key == name)


def texts(section):
    said = []
    for block in section.blocks:
        if isinstance(block, Notice):
            said.append(block.text)
        elif block.explanation is not None:
            said += [*block.explanation.observations, *block.explanation.meaning]
    return " ".join(said)


@pytest.fixture
def one_run_of_each(campaign):
    """30 handshakes of each suite, in the only run of its pair."""
    runs = campaign.runs[(campaign.runs["aead"] == "AES-256-GCM") & (campaign.runs["scenario"] == "baseline")]
    return replace(campaign, runs=runs.reset_index(drop=True))


def test_suites_that_differ_in_the_cipher_alone_are_a_tie(campaign):
    section = handshake_ranking(campaign)
    rows = table(section, "ranking-all").frame
    assert rows["Rank"].iloc[0] == "1–4"
    assert (rows["95 % from (ms)"] <= rows["Handshake (ms)"]).all()
    assert set(rows["n"]) == {30.0}
    assert "share the shortest handshake" in texts(section)
    assert "a tie" in texts(section)


def test_a_recommendation_is_a_standard_and_ties_with_standards_alone(campaign):
    rows = table(flight_budget(campaign), "recommendation").frame.set_index("Use")
    assert "ML-768-AG-MD-65" in rows.loc["default", "Suite"]
    assert rows.loc["default", "Tied with it"] == MISSING, "the other cipher is Ascon-128a, no standard"


def test_the_frontier_keeps_what_ties(campaign):
    assert "a tie, and all of them stay" in texts(pareto_frontier(campaign))
    assert len(table(pareto_frontier(campaign), "pareto-table").frame) == 6, "two ciphers at each level"


def test_single_handshakes_are_neither_ranked_nor_recommended(of_single_handshakes):
    c = of_single_handshakes
    section = handshake_ranking(c)
    assert not c.ranked
    assert section.title.endswith("by their handshake")
    assert set(table(section, "ranking-all").frame["Rank"]) == {MISSING}
    assert "This is no ranking" in texts(section)
    assert "Each bar is the median over the runs of its KEM and signature, up to 2." in texts(section)
    assert "shortest handshake" not in texts(section)
    assert limitations_about_ranking(c)


@pytest.mark.parametrize("campaign_of", ["one_run_of_each", "of_single_handshakes"])
def test_what_a_ranking_takes_is_said_in_full_wherever_there_is_none(request, campaign_of):
    """One run of a pair gives none however many handshakes it has, and more of them would not help."""
    c = request.getfixturevalue(campaign_of)
    needed = "30 handshakes of each suite and 2 runs of its KEM and signature"
    ranking, pareto, budget = (texts(each(c)) for each in (handshake_ranking, pareto_frontier, flight_budget))
    (notice, *_) = (block.text for block in answer(c) if isinstance(block, Notice))
    for said in (pareto, budget, notice):
        assert needed in said and "'pqcmav bench run --handshakes 30 --repetitions 2' measures them." in said
    assert needed in ranking and needed in texts(suite_tables(c)) and limitations_about_ranking(c)


def limitations_about_ranking(c):
    return [line for line in limitations(c) if line.startswith("A ranking or a recommendation takes 30 handshakes")]


def test_a_bar_of_a_single_run_is_the_median_of_its_handshakes(one_run_of_each):
    assert "Each bar is the median of up to 30 handshakes of one run." in texts(handshake_ranking(one_run_of_each))
    one = one_run_of_each.single.drop_duplicates("suite")
    assert "Each bar is one handshake." in texts(handshake_ranking(replace(one_run_of_each, single=one)))


def test_one_figure_a_run_is_not_ranked(campaign, paper):
    assert set(table(suite_tables(campaign), "energy-bit").frame["Rank"].astype(str)) == {MISSING}
    assert table(suite_tables(paper), "energy-bit").frame["Rank"].iloc[0] == 1


def with_ciphers(campaign, seal_us: dict[str, float]):
    """The campaign with these ciphers, eight suites of each, whose times scatter by a percent."""
    rows = campaign.runs[campaign.runs["scenario"] == "baseline"].head(8)
    parts = [
        rows.assign(
            aead=name, suite=rows["suite"] + name, seal_mean_us=[us * (1 + 0.001 * i) for i in range(len(rows))]
        )
        for name, us in seal_us.items()
    ]
    return replace(campaign, runs=pd.concat(parts, ignore_index=True))


def test_the_fastest_cipher_is_named_only_where_intervals_tell_it(campaign):
    times = {"AES-256-GCM": 0.3, "ChaCha20-Poly1305": 0.5, "Ascon-128a": 0.8}
    assert "here AES-256-GCM is, by more than" in texts(aeads(with_ciphers(campaign, times)))
    tied = texts(aeads(with_ciphers(campaign, {**times, "ChaCha20-Poly1305": 0.3})))
    assert "here AES-256-GCM and ChaCha20-Poly1305 are a tie" in tied
    assert "As published" in texts(aeads(with_ciphers(campaign, {**times, "Ascon-128a": 0.1})))
    assert "fastest" not in texts(aeads(campaign)), "it has two ciphers, and the documents three"


def test_without_a_baseline_that_passed_the_first_scenario_that_did_is_shown(with_detectors):
    failed = with_detectors.runs["scenario"] == "baseline"
    c = replace(with_detectors, runs=with_detectors.runs.assign(passed=~failed))
    assert c.main_scenario == "xgboost" and len(handshake_ranking(c).blocks) == 2
    assert "has no run that passed in the scenario Baseline" in texts(suite_power(c))
    shown = detector_overhead(c).blocks[0].explanation.shows
    assert "has no detector beside a baseline, so these are the published medians" in shown


def test_what_was_published_is_shown_as_it_was_printed(paper):
    assert "The fastest is" in texts(handshake_ranking(paper))
    assert table(flight_budget(paper), "recommendation").frame["Suite"].iloc[0]
    assert summary(paper)[0].startswith("Published figures")


def test_a_benchmarks_own_agent_is_not_taken_for_a_suites_power(campaign):
    busy = campaign.raw["system_gcs.bench_cpu_percent"].copy()
    busy.iloc[0] = 43.0
    found = replace(campaign, raw=campaign.raw.assign(**{"system_gcs.bench_cpu_percent": busy}))
    said, quiet = (texts(suite_power(each)) for each in (found, campaign))
    first = campaign.runs["suite"].iloc[0]
    assert f"took part of the processor beside {first} (43 % of a core): that power is not the suite's." in said
    assert "Half of the suites lie between" in quiet and "modelled" in quiet
    assert "own agent" not in quiet and "a spread of" not in quiet
