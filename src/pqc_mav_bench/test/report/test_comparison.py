# SPDX-License-Identifier: Apache-2.0
"""Which campaign is held against the published one."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from pqc_mav_bench.report.blocks import MIXED, Chart, Table
from pqc_mav_bench.report.build import compare
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.comparison import KNOWN, comparison, nearest, two_campaigns


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


def test_another_constant_rate_is_another_load(paper):
    slow = campaign_of(paper, "slow", "bulk", 30, ["baseline"])
    slow = replace(slow, raw=slow.raw.assign(**{"workload.target_mbps": 2.0}))
    keys = {block.key for block in comparison(slow).blocks if isinstance(block, Chart)}
    assert "published-handshake" in keys and "published-throughput" not in keys


def test_a_constant_load_without_a_common_suite_is_no_candidate(paper):
    other = campaign_of(paper, "others", "bulk", 30, ["baseline"])
    other = replace(other, runs=other.runs.assign(suite=other.runs["suite"] + "-x"))
    mine = campaign_of(paper, "mine", "mavlink", 18, ["baseline"])
    assert nearest([other, mine], paper) is mine


def test_the_published_campaign_is_known_on_either_side(paper):
    """The figure that the documents contradict is explained, whichever campaign is named first."""
    known = next(iter(KNOWN))
    mine = campaign_of(paper, "mine", "mavlink", 30, ["baseline"])
    quick = mine.runs["suite"] == known
    mine = replace(mine, runs=mine.runs.assign(handshake_ms=mine.runs["handshake_ms"].where(~quick, 7.0)))
    for pair in ((mine, paper), (paper, mine)):
        blocks = two_campaigns(*pair)[0].blocks
        rows = next(block for block in blocks if isinstance(block, Table)).frame.set_index("Suite")
        assert rows.loc[known, "Remark"] == KNOWN[known]
        assert {block.origin for block in blocks} == {MIXED}


def test_campaigns_of_one_name_are_told_apart_by_the_folders_above(run_dir, tmp_path):
    folders = [tmp_path / name / "lan" for name in ("links", "standards")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "tidy.csv").write_bytes((run_dir / "tidy.csv").read_bytes())
    page = compare(*folders).html.read_text()
    assert "Campaign links/lan (ms)</th>" in page and "Campaign standards/lan (ms)</th>" in page
    assert "over campaign standards/lan" in page
