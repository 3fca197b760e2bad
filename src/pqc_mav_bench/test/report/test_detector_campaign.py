# SPDX-License-Identifier: Apache-2.0
"""A made campaign as the full one is recorded, 72 suites in three scenarios with the detectors themselves: what the
first page says and what the sections say is one and the same, and comes with its interval."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest

from pqc_mav_bench.report.answer import shortly
from pqc_mav_bench.report.blocks import EMULATED, Chart, Notice, Table
from pqc_mav_bench.report.detector_sentences import detector_sentences, overall_effects
from pqc_mav_bench.report.sections.detectors import detectors
from pqc_mav_bench.report.sections.pqcmav_paper import pqcmav_paper_figures
from pqc_mav_bench.report.sections.suite_tables import suite_tables


@pytest.fixture(scope="module")
def told(detector_sections):
    return {
        block.key: " ".join([*block.explanation.observations, *block.explanation.meaning])
        for section in detector_sections
        for block in section.blocks
        if getattr(block, "explanation", None)
    }


def block(section, key):
    return next(each for each in section.blocks if getattr(each, "key", "") == key)


def test_nothing_of_it_is_called_emulated(with_detectors, detector_sections, detector_page):
    assert len(with_detectors.runs) == 216
    for said in (EMULATED, "emulated by a documented load", "(emulated", "no detector ran", "no run that passed in"):
        assert said not in detector_page
    assert not [each for s in detector_sections for each in s.blocks if getattr(each, "origin", "") == EMULATED]


def test_the_detectors_processor_time_is_shown_with_its_interval(with_detectors):
    table = block(detectors(with_detectors), "detector-load")
    rows = table.frame.set_index("Scenario")
    assert rows["Runs"].tolist() == [72, 72]
    assert rows["What ran"].tolist() == ["the detector"] * 2
    assert rows["CPU, median (% of one core)"].tolist() == pytest.approx([2.0, 25.0], rel=0.03)
    assert rows["95 % interval"].str.contains(" to ").all()
    assert "+ XGBoost has the smallest share of one core that a detector takes" in table.explanation.observations[0]


def test_a_load_in_a_detectors_place_is_labelled_and_not_compared(with_detectors):
    runs = with_detectors.runs.copy()
    runs.loc[runs["scenario"] != "baseline", "scenario_load"] = "emulated"
    section = detectors(replace(with_detectors, runs=runs))
    table = block(section, "detector-load")
    assert set(table.frame["What ran"]) == {"a documented load in its place (emulated)"}
    assert table.origin == EMULATED
    assert table.explanation.observations == [""]
    assert any("no detector ran" in each.text for each in section.blocks if isinstance(each, Notice))


def test_first_page_and_sections_say_the_same_of_the_detectors(with_detectors, told):
    light, heavy = overall_effects(with_detectors)
    assert light.startswith("+ XGBoost: handshakes cannot be told apart from those without a detector")
    assert re.match(r"\+ TST: handshakes take 1\.(2|3)\d times as long as without a detector \(95 % interval", heavy)
    short = shortly(with_detectors).html
    for key in ("overhead", "family-scenario", "cross-scenario"):
        for sentence in (light, heavy):
            assert sentence in told[key] and sentence in short
    by_family = detector_sentences(with_detectors)[2:]
    assert len(by_family) == 2 and all(sentence in told["overhead"] for sentence in by_family)
    assert all(f"those of {name} 1." in by_family[1] for name in ("ML-KEM", "HQC", "Classic-McEliece"))


def test_every_run_of_more_than_one_counts(with_detectors):
    """Three runs as they are and one that took eight times as long: no median of them tells of it."""
    runs = with_detectors.runs
    slow = runs.assign(handshake_ms=runs["handshake_ms"].where(runs["scenario"] != "tst", 8 * runs["handshake_ms"]))
    parts = [each.assign(repetition=1 + i) for i, each in enumerate((runs, runs, runs, slow))]
    once, (light, heavy) = (
        overall_effects(with_detectors),
        overall_effects(replace(with_detectors, runs=pd.concat(parts))),
    )
    before, now = (float(re.search(r"take (\S+) times", text)[1]) for text in (once[1], heavy))
    assert light == once[0] and now / before == pytest.approx(8**0.25, rel=0.01)


def test_what_matters_more_is_judged_by_intervals(told):
    assert "The scenario matters more for the median of the average CPU load than the KEM family" in told["load-heat"]
    assert "Average CPU under + XGBoost cannot be told apart" in told["scenario-load"]
    assert re.search(r"Average CPU under \+ TST is 1\.(2|3)\d times that without", told["scenario-load"])


def test_every_single_key_generation_is_drawn(with_detectors, campaign):
    section = pqcmav_paper_figures(with_detectors)
    chart = block(section, "kem-keygen-ms-distribution")
    assert chart.explanation.shows.startswith("Every key generation")
    labels = [text.get_text() for axes in chart.drawing.figure.axes for text in axes.get_xticklabels()]
    assert f"ML-KEM-512\nn = {9 * 3 * 30}" in labels, "nine suites, three scenarios, thirty handshakes"
    per_run = block(pqcmav_paper_figures(campaign), "kem-keygen-ms-distribution")
    assert "one figure a run" in per_run.explanation.shows
    assert "single runs beyond" in per_run.explanation.read


def test_verdicts_scores_and_flags_are_those_that_intervals_bear_out(with_detectors, of_single_handshakes):
    decided = block(suite_tables(with_detectors), "decision").frame
    assert set(decided["Verdict"]) - {"–"} and not (decided["Verdict"] == "–").any()
    assert set(block(suite_tables(of_single_handshakes), "decision").frame["Verdict"]) == {"–"}
    losses = block(suite_tables(with_detectors), "loss-table").frame
    assert set(losses["Adaptive"]) == {"not told apart"}


def test_charts_and_tables_are_all_there(detector_sections):
    blocks = [each for s in detector_sections for each in s.blocks if isinstance(each, (Chart, Table))]
    assert len(blocks) > 90
    assert all(each.origin and each.sources for each in blocks)
