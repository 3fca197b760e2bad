# SPDX-License-Identifier: Apache-2.0
"""Runs out of turn and runs left out are listed with their reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pqc_mav_bench.repeated_runs import Repeated
from pqc_mav_bench.report.frame import limitations
from pqc_mav_bench.report.page import render
from pqc_mav_bench.report.repeated import irregular, irregular_sentence, irregular_table
from pqc_mav_bench.schedule import Item


def planned(c, begun):
    """The campaign with places in the plan and, for each place, the minute in which it began."""
    minutes = [f"2026-11-23T18:{minute:02d}:00+00:00" for minute in begun]
    raw = c.raw.head(len(begun)).assign(
        **{"run_context.order_index": range(len(begun)), "run_context.started_at": minutes}
    )
    return replace(c, raw=raw)


def test_a_run_begun_after_later_ones_is_listed(campaign):
    found = planned(campaign, [1, 50, 3, 4, 5])
    rows = irregular(found)
    assert rows["Place in the plan"].tolist() == ["1"] and rows["Begun"].tolist() == ["2026-11-23 18:50:00"]
    assert "nor the reason" in rows["Why it is here"].iloc[0]
    assert irregular_sentence(found).startswith("1 of 5 runs were begun after runs that the plan has behind them")
    assert irregular_sentence(found) in limitations(found)
    assert "Runs out of turn" in render(found, [], "A report")


def test_a_failed_run_is_said_to_be_left_out(campaign):
    found = planned(campaign, [1, 2, 3])
    found = replace(found, raw=found.raw.assign(status=["passed", "failed", "passed"]))
    assert irregular(found)["Why it is here"].tolist() == ["did not pass: left out of all figures"]
    assert irregular_sentence(found).startswith("1 run did not pass and is left out of all figures.")
    why = found.raw.assign(**{"lifecycle.failure_reason": [None, "The gcs refused the suite.", None]})
    found = replace(found, raw=why)
    assert irregular(found)["Why it is here"].tolist() == [
        "did not pass: left out of all figures, for this reason: The gcs refused the suite."
    ]
    assert irregular_sentence(found).startswith("1 run did not pass and is left out of all figures.")


def test_a_measurement_that_was_made_again_is_listed_with_its_reason(campaign):
    found = planned(campaign, [1, 2, 50, 4])
    run = found.raw.iloc[2]
    why = Repeated(
        run["scenario"], run["suite"], int(run["repetition"]), "The agent took 43 % of a core.", 2, "2026", "f"
    )
    gone = Repeated("baseline", "cs-gone", 1, "Its file was missing.")
    found = replace(found, repeated=(why, gone))
    assert irregular(found)["Why it is here"].tolist() == [
        "made again, for this reason: Its file was missing. (not kept)",
        "made again, for this reason: The agent took 43 % of a core.",
    ], "and the run that took its place is no row of its own"
    assert irregular_sentence(found).startswith("2 measurements were made again.")


@pytest.mark.parametrize("missing", ["run_context.order_index", "run_context.started_at"])
def test_runs_that_failed_are_listed_without_the_plans_order(campaign, missing):
    found = planned(campaign, [1, 50, 3])
    raw = found.raw.assign(status=["passed", "failed", "passed"]).drop(columns=missing)
    found = replace(found, raw=raw, lost=((Item("baseline", "cs-gone", 1), "The agent was lost."),))
    assert sorted(irregular(found)["Why it is here"]) == [
        "did not pass: left out of all figures",
        "did not pass: left out of all figures, for this reason: The agent was lost. (not kept)",
    ]
    assert {"nan", "None"}.isdisjoint(irregular(found).to_numpy().ravel())
    assert irregular_sentence(found).startswith("2 runs did not pass and are left out of all figures.")
    assert irregular_table(found) is not None


def test_a_run_without_a_time_is_not_said_to_be_late(campaign):
    found = planned(campaign, [1, 2, 3])
    times = found.raw["run_context.started_at"].where([False, True, True])
    found = replace(found, raw=found.raw.assign(**{"run_context.started_at": times}))
    assert irregular_table(found) is None and irregular_sentence(found) == ""


def test_a_campaign_in_order_says_so_and_one_without_times_nothing(campaign):
    assert irregular_sentence(planned(campaign, [1, 2, 3])) == "All runs were begun in the plan's order and passed."
    assert irregular_table(planned(campaign, [1, 2, 3])) is None
    assert irregular_sentence(replace(campaign, raw=campaign.raw.drop(columns="run_context.started_at"))) == ""
