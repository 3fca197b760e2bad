# SPDX-License-Identifier: Apache-2.0
"""Which campaign is held against the published one."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from pqc_mav_bench.report.blocks import Chart
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.comparison import comparison, nearest


def campaign_of(paper: ReportInput, name: str, workload: str, suites: int, scenarios: list[str]) -> ReportInput:
    """A measured campaign of some of the published suites, with what was published as its figures."""
    base = paper.runs[paper.runs["scenario"] == "baseline"]
    kept = base[base["suite"].isin(base["suite"].unique()[:suites])]
    runs = pd.concat([kept.assign(scenario=each, workload=workload) for each in scenarios], ignore_index=True)
    return replace(paper, name=name, runs=runs, raw=runs)


def test_more_scenarios_of_fewer_suites_do_not_outweigh_the_load(paper):
    scenarios = campaign_of(paper, "three scenarios", "mavlink", 18, ["baseline", "xgboost", "tst"])
    matrix = campaign_of(paper, "the matrix", "bulk", 30, ["baseline"])
    assert nearest([scenarios, matrix], paper) is matrix
    assert nearest([matrix, scenarios], paper) is matrix
    section = comparison(scenarios, matrix)
    charts = {block.key: block for block in section.blocks if isinstance(block, Chart)}
    assert {"published-handshake", "published-throughput"} <= set(charts)
    assert "the matrix" in charts["published-handshake"].explanation.shows


def test_under_the_same_load_the_one_with_more_suites_is_taken(paper):
    few = campaign_of(paper, "few", "mavlink", 9, ["baseline", "xgboost", "tst"])
    many = campaign_of(paper, "many", "mavlink", 20, ["baseline"])
    assert nearest([few, many], paper) is many


def test_a_constant_load_without_a_common_suite_is_no_candidate(paper):
    other = campaign_of(paper, "others", "bulk", 30, ["baseline"])
    other = replace(other, runs=other.runs.assign(suite=other.runs["suite"] + "-x"))
    mine = campaign_of(paper, "mine", "mavlink", 18, ["baseline"])
    assert nearest([other, mine], paper) is mine
