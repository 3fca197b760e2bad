# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pandas as pd

from pqc_mav_bench import tidy
from pqc_mav_bench.link_presets import PRESETS
from pqc_mav_bench.report.answer import answer, shortly
from pqc_mav_bench.report.blocks import MEASURED
from pqc_mav_bench.report.frame import limitations, provenance
from pqc_mav_bench.report.measured_links import over_links
from pqc_mav_bench.report.report_input import load

FOLDERS = ("campaign-links/lan/", "campaign-links/radio-64k/")


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
    assert over_lan.startswith("Over a LAN, ML-768-AG-MD-65 is the shortest of those made of standards at 2.40 ms")
    assert "is the shortest of those made of standards at 1.00 s" in over_radio


def test_more_campaigns_have_a_table_of_their_own_that_says_how_busy_the_machine_was(with_links):
    both = replace(with_links, more_links=with_links.links)
    assert [block.key for block in answer(both)][-2:] == ["answer-links", "answer-links-more"]
    assert over_links(with_links, more=True) is None
    busy = [
        (p, replace(one, raw=one.raw.assign(**{"system_drone.foreign_cpu_percent": 80.0}))) for p, one in both.links
    ]
    assert "Other work took 80.0 % of the" in over_links(replace(both, links=tuple(busy))).explanation.meaning[1]


def test_a_campaign_over_a_link_that_none_passed_is_left_out_and_said_to_be(run_dir, tmp_path):
    """It stops no report beside it."""
    table = tidy.read(run_dir)
    for folder, kept in (("mine", table), ("campaign-links/lan", table), ("campaign-links/radio-64k", table)):
        (tmp_path / folder).mkdir(parents=True)
        tidy.write(kept.assign(status="failed") if folder.endswith("64k") else kept, tmp_path / folder)
    found = load(tmp_path / "mine")
    assert [preset.name for preset, _ in found.links] == ["lan"]
    (said,) = (line for line in limitations(found) if line.startswith("Left out"))
    assert said.startswith("Left out of the links: campaign-links/radio-64k holds no run that passed")


def test_the_files_of_the_links_are_among_those_that_the_report_was_made_from(with_links):
    both = replace(with_links, more_links=with_links.links[:1])
    files = provenance(both, [])["File"].tolist()
    tables = [source.name for source in with_links.sources]
    assert files == [f"{folder}{name}" for folder in ("", *FOLDERS) for name in tables]


def over_radio_of(c, **options):
    """Campaigns over the radio made of one cipher, so that a suite's pair has as many runs as the suite."""
    preset, one = next(each for each in c.links if each[0].name == "radio-64k")
    kept = one.raw["crypto_identity.aead_algorithm"] == "AES-256-GCM"
    raw, single = one.raw[kept], one.single[one.single["suite"].isin(one.runs.loc[kept.to_numpy(), "suite"])]
    runs = one.runs[kept.to_numpy()]
    for again in range(2, options.get("repetitions", 1) + 1):
        runs = pd.concat([runs, one.runs[kept.to_numpy()].assign(repetition=again)], ignore_index=True)
        single = pd.concat([single, one.single[one.single["suite"].isin(runs["suite"])].assign(repetition=again)])
    return replace(c, links=((preset, replace(one, raw=raw, runs=runs, single=single)),))


def test_one_run_of_each_suite_names_none_the_shortest_and_two_do(with_links):
    table = over_links(over_radio_of(with_links))
    assert (
        "none is called the shortest: that takes 30 handshakes of each suite and 2 runs"
        in table.explanation.observations[0]
    )
    assert "30 handshakes of each suite over each link, in one run each." in table.explanation.meaning[0]
    table = over_links(over_radio_of(with_links, repetitions=2))
    assert "is the shortest of those made of standards at 1.00 s" in table.explanation.observations[0]
    assert "60 handshakes of each suite over each link, in 2 runs or more each." in table.explanation.meaning[0]


def test_the_answer_shows_them_and_is_silent_without(with_links, campaign):
    assert [block.key for block in answer(with_links)][-1] == "answer-links"
    assert over_links(campaign) is None
    assert all(not one.links for _, one in with_links.links)


def test_the_answer_in_short_says_what_was_measured(with_links, campaign):
    html = shortly(with_links).html
    assert "Measured, under MAVLink: " in html
    assert "1.00 s (95 % interval 1.00 s to 1.00 s) over a radio of 64 kbit/s (RTT 100 ms, 1 % lost)" in html
    assert ", or over links emulated on it: " in html
    assert "Measured, under MAVLink" not in shortly(campaign).html
    assert "emulated on it" not in shortly(campaign).html


def test_a_link_over_which_another_suite_is_shorter_is_named(with_links):
    preset, one = with_links.links[0]

    def slower(frame):
        return frame["handshake_ms"].where(~frame["suite"].str.startswith("ML-768"), 300 * frame["handshake_ms"])

    tables = {name: getattr(one, name) for name in ("runs", "single")}
    changed = replace(one, **{name: table.assign(handshake_ms=slower(table)) for name, table in tables.items()})
    html = shortly(replace(with_links, links=((preset, changed),))).html
    assert f"Shorter, by the 95 % intervals: over {preset.called} ML-512-AG-FA-512 (level 1, " in html
    assert (
        " and MC-8192128-AG-MD-87 (level 5, 302 ms, no standard)" in html.partition("Shorter, by")[2].partition(". ")[0]
    )
    assert "Shorter, by" not in shortly(with_links).html


def test_without_intervals_no_suite_is_called_the_shortest(with_links):
    preset, one = with_links.links[0]
    alone = replace(one, single=one.single[:0])
    (said,) = over_links(replace(with_links, links=((preset, alone),))).explanation.observations
    assert "none is called the shortest" in said
