# SPDX-License-Identifier: Apache-2.0
"""The attack detectors: what they are, what they take of the processor, and what they add to a handshake."""

from __future__ import annotations

import math

import pandas as pd

from pqc_mav_bench.analysis import scenarios
from pqc_mav_bench.analysis.detector_effect import family_effects
from pqc_mav_bench.analysis.published import source
from pqc_mav_bench.analysis.table import SCENARIO_NAMES
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import PUBLISHED, Chart, Explanation, Notice, Section
from pqc_mav_bench.report.blocks import Table as TableBlock
from pqc_mav_bench.report.charts import bars
from pqc_mav_bench.report.detector_sentences import detector_sentences
from pqc_mav_bench.report.estimates import per_scenario
from pqc_mav_bench.report.figure import Drawing
from pqc_mav_bench.report.numbers import MISSING, number
from pqc_mav_bench.report.report_input import ReportInput, published_source
from pqc_mav_bench.report.sections.common import first_upper, scenario_note, shown_intervals, without
from pqc_mav_bench.report.sections.published_tables import published_frame, published_table

_REAL, _EMULATED = "the detector", "a documented load in its place (emulated)"


def detectors(c: ReportInput) -> Section:
    """Detectors."""
    title = "Detector comparison"
    own = _own_load(c)
    frame = published_frame("rpi5_ddos_detectors_report").set_index("Detector").T.reset_index(names="Property")
    explanation = Explanation(
        "The two detectors of the published system: model, window, latency, size.",
        "Latency is the time until a verdict, inference the computation of one.",
        [],
        [
            "The documents recommend XGBoost in flight and the transformer for analysis on the ground. Their "
            "window of five packets "
            "cannot take three seconds at 320 packets a second (16 ms): it fits only if a step is a 0.6 s bucket."
        ],
    )
    table = TableBlock(
        "detectors",
        "Detectors, published, [rpi5-report] section 18",
        frame,
        PUBLISHED,
        published_source("rpi5_ddos_detectors_report"),
        explanation,
    )
    return Section("detectors", title, [own, *scenario_note(c), table])


def _own_load(c: ReportInput) -> TableBlock | Notice:
    """What each scenario's detector, or the load in its place, took of the drone's processor."""
    beside = [name for name in c.scenarios if name != "baseline"]
    rows = c.suites[c.suites["scenario"].isin(beside)].dropna(subset=["detector_cpu_percent"])
    if c.is_published or rows.empty:
        none = "no scenario with a detector was run"
        state = "no run recorded the processor time of its detector" if beside and not c.is_published else none
        return without(c, "measured load of a detector", state, "The published properties follow.")
    found = per_scenario(c, "detector_cpu_percent")
    spans = shown_intervals(found)
    names = [name for name in beside if SCENARIO_NAMES.get(name, name) in found]
    runs = c.runs[c.runs["passed"]].dropna(subset=["detector_cpu_percent"])
    titles = [SCENARIO_NAMES.get(name, name) for name in names]
    frame = pd.DataFrame(
        {
            "Scenario": titles,
            "What ran": [_EMULATED if name in c.emulated else _REAL for name in names],
            "Runs": [int((runs["scenario"] == name).sum()) for name in names],
            "CPU, median (% of one core)": [found[title].value for title in titles],
            "95 % interval": [spans.get(title, MISSING) for title in titles],
        }
    )
    real = {title: found[title] for name, title in zip(names, titles, strict=True) if name not in c.emulated}
    explanation = Explanation(
        "Processor time of the detector's process on the drone's computer, or of the load in its place, by scenario.",
        "As a share of one core, over the whole run; the interval is that of the median over pairs of KEM and "
        "signature. A load in place of a detector takes what it was told to take: it says nothing about the detector.",
        [sentences.extremes(real, "share of one core that a detector takes", "%", "smallest", "largest")],
        ["How well the detectors tell attacks is not part of a campaign: it is measured apart (docs/detection.md)."],
    )
    key, heading = "detector-load", "Processor time of the detectors"
    return TableBlock(key, heading, frame, c.origin(True), c.sources, explanation)


def detector_overhead(c: ReportInput) -> Section:
    """Detector overhead."""
    title = "Detector overhead on the median handshake"
    published = published_table(
        "overhead-published", "Detector overhead, published, [rpi5-report] section 22", "rpi5_ddos_overhead_report"
    )
    rows = scenarios.detector_overhead(c.suites)
    by_family = {} if c.is_published else family_effects(c.suites)
    spans = {
        (family, each.scenario): f"{number(each.low)} to {number(each.high)}"
        for family, found in by_family.items()
        for each in found
    }
    if not rows:
        return Section("detector_overhead", title, [_published_overhead(c), published])
    frame = pd.DataFrame(
        [
            [r.group, SCENARIO_NAMES.get(r.scenario, r.scenario), r.base, r.value, r.delta, r.delta_percent]
            for r in rows
        ],
        columns=["KEM family", "Detector", "Baseline (ms)", "With detector (ms)", "Delta (ms)", "Delta (%)"],
    )
    if not c.is_published:
        frame["Ratio of a suite to itself, 95 % interval"] = [spans.get((r.group, r.scenario), MISSING) for r in rows]
    explanation = Explanation(
        "Difference of the medians with and without each detector, in milliseconds and in per cent of the baseline.",
        "Bars below zero mean that the median was lower with the detector. The bars are differences of medians and "
        "have no interval; what is certain is said below, and comes from each suite's comparison with itself.",
        detector_sentences(c),
        [
            "The documents give these deltas in a table and again in the text, and the two differ; see the page on the "
            "published figures."
        ],
    )
    chart = Chart(
        "overhead",
        title,
        "Bars of added handshake time per KEM family in two panels.",
        _overhead_drawing(rows),
        c.origin(True),
        c.sources,
        None,
        explanation,
    )
    return Section(
        "detector_overhead",
        title,
        [
            chart,
            TableBlock("overhead-table", "Detector overhead", frame, c.origin(True), c.sources),
            *scenario_note(c),
            published,
        ],
    )


def _overhead_drawing(rows: list[scenarios.Overhead]) -> Drawing:
    families = list(dict.fromkeys(r.group for r in rows))
    names = list(dict.fromkeys(r.scenario for r in rows))
    found = {(r.group, r.scenario): r for r in rows}
    panels = []
    for attribute, axis, unit in (("delta", "Added time (ms)", "ms"), ("delta_percent", "Added time (%)", "%")):
        series = [
            bars.Series(
                SCENARIO_NAMES.get(name, name),
                [getattr(found[f, name], attribute) if (f, name) in found else math.nan for f in families],
                palette.scenario(name),
                palette.SCENARIO_HATCH.get(name, ""),
            )
            for name in names
        ]
        panels.append(bars.Panel(families, series, axis, unit))
    return bars.grouped(panels, 340, tilt=20)


def _published_overhead(c: ReportInput) -> Chart:
    """The published deltas, where the campaign has none of its own."""
    keys = {"XGBoost": "xgboost", "TST": "tst"}
    rows = [
        scenarios.Overhead(r.kem_family, keys[r.detector], r.baseline_median_ms, r.with_detector_median_ms)
        for r in source.table("rpi5_ddos_overhead_report").itertuples()
    ]
    what = "median handshake"
    explanation = Explanation(
        f"{first_upper(c.name)} ran one scenario only, so these are the published medians of the Raspberry Pi 5.",
        "Left in milliseconds, right in per cent of the baseline.",
        ["Published, without intervals: " + s for s in sentences.printed_overhead(rows, what, SCENARIO_NAMES)],
    )
    return Chart(
        "overhead",
        "Detector overhead, published",
        "Bars of added handshake time per KEM family.",
        _overhead_drawing(rows),
        PUBLISHED,
        published_source("rpi5_ddos_overhead_report"),
        None,
        explanation,
    )
