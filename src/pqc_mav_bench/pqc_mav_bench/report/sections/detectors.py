# SPDX-License-Identifier: Apache-2.0
"""The attack detectors: what they are, what they take of the processor, and what they add to a handshake."""

import math

import pandas as pd

from pqc_mav_bench.analysis import scenarios
from pqc_mav_bench.analysis.detector_effect import family_effects
from pqc_mav_bench.analysis.published import source
from pqc_mav_bench.analysis.table import SCENARIO_NAMES
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import PUBLISHED, Block, Chart, Explanation, Section, Table
from pqc_mav_bench.report.charts import bars
from pqc_mav_bench.report.detector_sentences import detector_sentences
from pqc_mav_bench.report.estimates import per_scenario
from pqc_mav_bench.report.figure import Drawing
from pqc_mav_bench.report.numbers import MISSING, number
from pqc_mav_bench.report.report_input import ReportInput, published_source
from pqc_mav_bench.report.sections.common import first_upper, scenario_note, shown_intervals, without
from pqc_mav_bench.report.sections.figures import called, chart, table
from pqc_mav_bench.report.sections.published_tables import published, published_frame

_REAL, _EMULATED = "the detector", "a documented load in its place (emulated)"


def detectors(c: ReportInput) -> Section:
    """Detectors."""
    file = "rpi5_ddos_detectors_report"
    frame = published_frame(file).set_index("Detector").T.reset_index(names="Property")
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
    title = "Detectors, published, [rpi5-report] section 18"
    printed = Table("detectors", title, frame, PUBLISHED, published_source(file), explanation)
    return Section("detectors", "Detector comparison", [_own_load(c), *scenario_note(c), printed])


def _own_load(c: ReportInput) -> Block:
    """What each scenario's detector, or the load in its place, took of the drone's processor."""
    beside = [name for name in c.scenarios if name != "baseline"]
    rows = c.suites[c.suites["scenario"].isin(beside)].dropna(subset=["detector_cpu_percent"])
    if c.is_published or rows.empty:
        none = "no scenario with a detector was run"
        state = "no run recorded the processor time of its detector" if beside and not c.is_published else none
        return without(c, "measured load of a detector", state, "The published properties follow.")
    found = per_scenario(c, "detector_cpu_percent")
    spans = shown_intervals(found)
    names = {name: called(name) for name in beside if called(name) in found}
    runs = c.passed.dropna(subset=["detector_cpu_percent"])
    frame = pd.DataFrame(
        {
            "Scenario": list(names.values()),
            "What ran": [_EMULATED if name in c.emulated else _REAL for name in names],
            "Runs": [int((runs["scenario"] == name).sum()) for name in names],
            "CPU, median (% of one core)": [found[title].value for title in names.values()],
            "95 % interval": [spans.get(title, MISSING) for title in names.values()],
        }
    )
    real = {title: found[title] for name, title in names.items() if name not in c.emulated}
    says = [sentences.extremes(real, "share of one core that a detector takes", "%", "smallest", "largest")]
    return table(c, "detector-load", frame, says, across=True)


def detector_overhead(c: ReportInput) -> Section:
    """Detector overhead."""
    title = "Detector overhead on the median handshake"
    rows = scenarios.detector_overhead(c.suites)
    if not rows:
        return Section("detector_overhead", title, [_published_overhead(c), published("overhead-published")])
    body = [[r.group, called(r.scenario), r.base, r.value, r.delta, r.delta_percent] for r in rows]
    headings = ["KEM family", "Detector", "Baseline (ms)", "With detector (ms)", "Delta (ms)", "Delta (%)"]
    frame = pd.DataFrame(body, columns=headings)
    if not c.is_published:
        effects = {(f, e.scenario): e for f, found in family_effects(c.passed).items() for e in found}
        of_rows = [effects.get((r.group, r.scenario)) for r in rows]
        spans = [f"{number(e.low)} to {number(e.high)}" if e else MISSING for e in of_rows]
        frame["Ratio of a suite to itself, 95 % interval"] = spans
    blocks: list[Block] = [
        chart(c, "overhead", _overhead_drawing(rows), detector_sentences(c), across=True),
        table(c, "overhead-table", frame, across=True),
        *scenario_note(c),
        published("overhead-published"),
    ]
    return Section("detector_overhead", title, blocks)


def _overhead_drawing(rows: list[scenarios.Overhead]) -> Drawing:
    families = list(dict.fromkeys(r.group for r in rows))
    names = list(dict.fromkeys(r.scenario for r in rows))
    found = {(r.group, r.scenario): r for r in rows}
    panels = []
    for attribute, axis, unit in (("delta", "Added time (ms)", "ms"), ("delta_percent", "Added time (%)", "%")):
        series = [
            bars.Series(
                called(name),
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
    explanation = Explanation(
        f"{first_upper(c.name)} has no detector beside a baseline, so these are the published medians of the Raspberry "
        "Pi 5.",
        "Left in milliseconds, right in per cent of the baseline.",
        [
            "Published, without intervals: " + said
            for said in sentences.printed_overhead(rows, "median handshake", SCENARIO_NAMES)
        ],
    )
    title, alt = "Detector overhead, published", "Bars of added handshake time per KEM family."
    sources = published_source("rpi5_ddos_overhead_report")
    return Chart("overhead", title, alt, _overhead_drawing(rows), PUBLISHED, sources, None, explanation)
