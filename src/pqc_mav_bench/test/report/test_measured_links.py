# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pqc_mav_bench.link_presets import PRESETS
from pqc_mav_bench.report.answer import answer, shortly
from pqc_mav_bench.report.blocks import MEASURED
from pqc_mav_bench.report.measured_links import over_links


def test_each_link_has_a_column_of_medians_with_their_intervals(with_links):
    table = over_links(with_links)
    lan, radio = PRESETS["lan"].title, PRESETS["radio-64k"].title
    assert list(table.frame.columns) == ["Suite", lan, radio]
    assert table.frame["Suite"].tolist() == with_links.baseline["suite"].tolist()
    for text, link in ((table.frame[lan].iloc[0], "ms"), (table.frame[radio].iloc[0], "s")):
        assert " to " in text and text.endswith(f"{link})"), text
    assert table.origin == MEASURED and len(table.sources) >= 2
    assert "At least 30 handshakes" in " ".join(table.explanation.meaning)


def test_what_is_shortest_over_a_link_names_its_ties(with_links):
    over_lan, over_radio = over_links(with_links).explanation.observations
    assert "not told apart from it: " in over_lan and PRESETS["lan"].title in over_lan
    assert "is the shortest at 1.00 s" in over_radio


def test_the_answer_shows_them_and_is_silent_without(with_links, campaign):
    assert [block.key for block in answer(with_links)][-1] == "answer-links"
    assert over_links(campaign) is None
    assert all(not one.links for _, one in with_links.links)


def test_the_answer_in_short_says_what_was_measured(with_links, campaign):
    html = shortly(with_links).html
    assert "Measured, under MAVLink: " in html
    assert f"1.00 s (95 % interval 1.00 s to 1.00 s) over the {PRESETS['radio-64k'].title}" in html
    assert "Measured, under MAVLink" not in shortly(campaign).html
