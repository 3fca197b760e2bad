# SPDX-License-Identifier: Apache-2.0
"""A campaign says whether it was recorded as its plan has it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from pqc_mav_bench.report import departures as plan
from pqc_mav_bench.report.departures import departures, departures_sentence
from pqc_mav_bench.report.frame import limitations


def planned(c):
    """Twice the made runs, as the plan wants them."""
    raw = c.raw.assign(
        **{
            "run_context.started_at": f"{plan.FIXED}T14:00:00+00:00",
            "handshake.handshakes": plan.HANDSHAKES,
            "run_context.run_duration_s": plan.DATA_S,
        }
    )
    again = c.runs.assign(repetition=2)
    return replace(c, raw=raw, runs=pd.concat([c.runs, again], ignore_index=True))


def test_one_as_planned_says_so(with_detectors):
    found = planned(with_detectors)
    assert departures(found) == []
    assert departures_sentence(found).startswith("It was recorded as the plan of its analysis says")
    assert departures_sentence(found) in limitations(found)


def test_each_departure_is_named(with_detectors):
    assert "72 of 72 pairs in a scenario have other than 6 runs" in departures(with_detectors)
    found = planned(with_detectors)
    early = found.raw.assign(**{"run_context.started_at": "2026-11-23T18:04:24+00:00"})
    assert departures(replace(found, raw=early)) == ["it was begun on 2026-11-23"]
    few = found.raw.assign(**{"handshake.handshakes": [29, *[plan.HANDSHAKES] * (len(found.raw) - 1)]})
    assert departures(replace(found, raw=few)) == ["1 run had other than 30 handshakes"]
    long = found.raw.assign(**{"run_context.run_duration_s": 30.0})
    assert departures(replace(found, raw=long)) == [f"{len(found.raw)} runs had other than 5 s of data"]
    alone = found.runs[found.runs["scenario"] != "tst"]
    assert departures(replace(found, runs=alone)) == ["there are no runs with tst"]
    assert departures_sentence(replace(found, raw=long)).startswith("It departs from the plan of its analysis")


def test_a_campaign_without_detectors_has_no_plan(with_detectors):
    found = planned(with_detectors)
    assert departures_sentence(replace(found, runs=found.runs[found.runs["scenario"] == "baseline"])) == ""


def test_the_plan_says_the_same():
    page = " ".join((Path(__file__).parents[4] / "docs" / "analysis-plan.md").read_text(encoding="utf-8").split())
    assert "six runs of each pair" in page and plan.RUNS == 6
    assert f"{plan.DATA_S:g} s of data and {plan.HANDSHAKES} handshakes each" in page
    assert f"fixed on {plan.FIXED}, before the first run" in page
