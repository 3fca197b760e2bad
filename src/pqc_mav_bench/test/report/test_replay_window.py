# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pqc_mav_bench.report.sections.replay_window import window_depth
from pqc_mav_bench.report.sections.throughput_and_loss import loss


def test_both_ends_say_what_came_late_and_what_never_did(with_links):
    (table,) = window_depth(with_links)
    runs = len(with_links.runs)
    assert table.frame.to_dict("records") == [
        {
            "Scenario": "Baseline", "Received by": end, "Packets": 1000 * runs, "Came late": 7,
            "Farthest behind, at most": 7, "Never came": 2 * runs,
        }
        for end in ("the ground", "the drone")
    ]  # fmt: skip
    assert "14 packets came late, at most 7 places behind: 0.68 % of a window of 1024" in " ".join(
        table.explanation.observations
    )
    assert "window-depth" in [block.key for block in loss(with_links).blocks if hasattr(block, "key")]


def test_campaigns_that_did_not_count_it_have_no_table(campaign, paper):
    assert window_depth(campaign) == []
    assert window_depth(paper) == []
