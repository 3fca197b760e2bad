# SPDX-License-Identifier: Apache-2.0
"""The scenarios side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from pqc_mav_bench.analysis import scenarios
from pqc_mav_bench.analysis.detector_effect import effects
from pqc_mav_bench.analysis.table import FAMILIES, SCENARIO_NAMES
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Block, Chart, Explanation, Notice, Section
from pqc_mav_bench.report.blocks import Table as TableBlock
from pqc_mav_bench.report.charts import bars, heat
from pqc_mav_bench.report.detector_sentences import added_to_families, detector_sentences, overall_effects
from pqc_mav_bench.report.estimates import of_groups, per_group, per_scenario
from pqc_mav_bench.report.numbers import listed
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import families_of, first_upper, scenario_note, scenario_series
from pqc_mav_bench.report.sections.published_tables import published_table


def _families(c: ReportInput) -> list[str]:
    present = set(c.suites["kem_family"])
    return [family for family in FAMILIES if family in present]


def scenario_handshakes(c: ReportInput) -> Section:
    """Median handshake by family and scenario."""
    title = "Median handshake by KEM family and scenario"
    families = _families(c)
    series = scenario_series(c, "kem_family", families, "handshake_ms")
    panel = bars.Panel(families, series, "Median handshake (ms, log scale)", "ms", True)
    frame = pd.DataFrame({"KEM family": families} | {s.label: list(s.values) for s in series})
    explanation = Explanation(
        "Median over the suites of each KEM family, one bar per scenario.",
        "The axis is logarithmic; compare bars of one family to see the scenario's effect.",
        [
            sentences.fastest_slowest(of_groups(families_of(c.baseline)), "median handshake"),
            *detector_sentences(c),
        ],
        [sentences.longer_suffer_more(added_to_families(c))],
    )
    chart = Chart(
        "family-scenario",
        title,
        "Bars of median handshake per KEM family and scenario.",
        bars.grouped([panel], 380),
        c.origin(True),
        c.sources,
        frame,
        explanation,
    )
    return Section("scenario_handshakes", title, [chart, *scenario_note(c)])


def _per_scenario(c: ReportInput, column: str, how: str) -> dict[str, float]:
    found = {}
    for name in c.scenarios:
        values = c.runs.loc[(c.runs["scenario"] == name) & c.runs["passed"], column]
        value = float(values.median() if how == "median" else values.mean()) if values.notna().any() else math.nan
        found[SCENARIO_NAMES.get(name, name)] = value
    return found


def _changes(c: ReportInput, column: str, what: str, unit: str, values: Mapping[str, float]) -> list[str]:
    """How a figure differs between the scenarios: each suite against itself; printed figures as they stand."""
    if not c.is_published:
        found = effects(c.suites, column=column)
        return [sentences.compared(each, what, SCENARIO_NAMES.get(each.scenario, each.scenario)) for each in found]
    base, *others = values.items()
    return [sentences.printed_change(value, base[1], f"{what} under {name}", unit) for name, value in others]


def scenario_load(c: ReportInput) -> Section:
    """CPU, temperature, packets."""
    wanted = (
        ("cpu_mean_percent", "mean", "Average CPU (%)", "%"),
        ("temperature_mean_c", "mean", "SoC temperature (°C)", "°C"),
        ("sent_packets", "median", "Packets sent (median)", ""),
    )
    panels, frame, absent, lines = (
        [],
        pd.DataFrame({"Scenario": [SCENARIO_NAMES.get(n, n) for n in c.scenarios]}),
        [],
        [],
    )
    for column, how, axis, unit in wanted:
        values = _per_scenario(c, column, how)
        if not any(math.isfinite(v) for v in values.values()):
            absent.append(axis)
            continue
        series = [
            bars.Series(label, [value], palette.scenario(name), palette.SCENARIO_HATCH.get(name, ""))
            for name, (label, value) in zip(c.scenarios, values.items(), strict=True)
        ]
        panels.append(bars.Panel([""], series, axis, unit))
        frame[axis] = list(values.values())
        lines += _changes(c, column, axis.split(" (")[0], unit, values)
    blocks: list[Block] = []
    title = f"{listed([axis.split(' (')[0] for axis in frame.columns[1:]]) or 'Load'} by scenario"
    if panels:
        explanation = Explanation(
            "Load of the drone's machine and the traffic it carried, per scenario, over all runs that passed.",
            f"{'Each panel has its own scale. ' if len(c.scenarios) > 1 else ''}CPU is of all cores together.",
            lines,
            [
                "Both ends of the tunnel ran on this one machine, so its load is that of drone and ground "
                "station together."
            ]
            if _same_host(c)
            else [],
        )
        if len(c.scenarios) == 1:  # a chart of one bar compares nothing
            blocks.append(TableBlock("scenario-load", title, frame, c.origin(True), c.sources, explanation))
        else:
            blocks.append(
                Chart(
                    "scenario-load",
                    title,
                    "Bars per scenario in up to three panels.",
                    bars.grouped(panels, 320),
                    c.origin(True),
                    c.sources,
                    frame,
                    explanation,
                )
            )
    blocks += (
        [
            Notice(
                f"{first_upper(c.name)} has no values for: {', '.join(absent)}. The machine offers no such sensor "
                f"or the workload no such count."
            )
        ]
        if absent
        else []
    )
    blocks += [
        *scenario_note(c),
        published_table("scenario-load-published", "Published, [rpi5-report] section 23", "rpi5_cross_scenario_report"),
    ]
    return Section("scenario_load", title, blocks)


def _same_host(c: ReportInput) -> bool:
    return "same_host" in c.runs and bool((c.runs["same_host"].fillna(0).astype(float) == 1).any())


#: What sentences call a panel's column, its unit, and that of differences.
_WORDS = {
    "cpu_mean_percent": ("median of the average CPU load", "%", "points"),
    "temperature_mean_c": ("median SoC temperature", "°C", "°C"),
    "cpu_peak_percent": ("median of the peak CPU load", "%", "points"),
}


def scenario_heatmaps(c: ReportInput) -> Section:
    """CPU and temperature heatmap."""
    families = _families(c)
    columns = [SCENARIO_NAMES.get(n, n) for n in c.scenarios]
    panels, absent, columns_shown = [], [], []
    for column, name, unit in (
        ("cpu_mean_percent", "Average CPU (%)", "%"),
        ("temperature_mean_c", "SoC temperature (°C)", "°C"),
        ("cpu_peak_percent", "Peak CPU (%)", "%"),
    ):
        pivot = c.suites.pivot_table(index="kem_family", columns="scenario", values=column, aggfunc="mean")
        if not pivot.size:
            absent.append(name)
            continue
        columns_shown.append(column)
        grid = pivot.reindex(index=families, columns=c.scenarios).to_numpy(dtype=float)
        panels.append(heat.Panel(name, families, columns, grid.tolist(), unit))
    blocks: list[Block] = []
    title = f"{listed([panel.title.split(' (')[0] for panel in panels]) or 'Load'}, KEM family by scenario"
    if panels:
        column = columns_shown[0]
        what, unit, points = _WORDS[column]
        # A suite's mean over its scenarios, so that a family's scatter is not that of the scenarios.
        over = c.suites.groupby(["suite", "kem", "sig", "kem_family"], as_index=False)[column].mean()
        by_family = per_group(c, over, "kem_family", column, families)
        stronger = sentences.stronger(("scenario", per_scenario(c, column)), ("KEM family", by_family), what, points)
        explanation = Explanation(
            "Mean over the suites of each family and scenario.",
            "Yellow is high, blue low; each panel has its own scale, so compare colours within a panel only.",
            [sentences.extremes(by_family, what, unit, "lowest", "highest"), stronger],
        )
        chart = Chart(
            "load-heat",
            title,
            f"Heatmaps of {title}.",
            heat.heatmaps(panels),
            c.origin(True),
            c.sources,
            None,
            explanation,
        )
        blocks.append(chart)
    if absent:
        blocks.append(Notice(f"{first_upper(c.name)} has no values for: {', '.join(absent)}."))
    return Section("scenario_heatmaps", title, [*blocks, *scenario_note(c)])


def scenario_summary(c: ReportInput) -> Section:
    """Cross-scenario table."""
    title = "Cross-scenario comparison of nine metrics"
    rows = scenarios.cross_scenario(c.runs)
    names = [SCENARIO_NAMES.get(r.scenario, r.scenario) for r in rows]
    metrics = {
        "Median handshake (ms)": [r.median_ms for r in rows],
        "Mean handshake (ms)": [r.mean_ms for r in rows],
        "P95 handshake (ms)": [r.p95_ms for r in rows],
        "Average CPU (%)": [r.cpu_mean_percent for r in rows],
        "Peak CPU (%)": [r.cpu_peak_percent for r in rows],
        "Average SoC temperature (°C)": [r.temperature_mean_c for r in rows],
        "Packets sent (median)": [r.packets_median for r in rows],
        "Packet loss (%)": [r.loss_percent for r in rows],
    }
    body = [[metric, *values] for metric, values in metrics.items()]
    body.append(["Runs passed / all", *(f"{r.passed} / {r.total}" for r in rows)])
    frame = pd.DataFrame(body, columns=["Metric", *names])
    lines = [
        sentences.printed_change(rows[i].median_ms, rows[0].median_ms, f"The median handshake under {names[i]}", "ms")
        for i in range(1, len(rows))
    ]
    if not c.is_published:
        lines = overall_effects(c)
    if len(rows) == 1:
        lines = [f"{names[0]}: {rows[0].passed} of {rows[0].total} runs passed."]
    explanation = Explanation(
        "The metrics of the published summary, per scenario.",
        "A dash means not measured. Handshake figures are over passed runs only; the published ones hold a "
        "timed-out run of 48 s.",
        [*lines, sentences.loss(c.runs[c.runs["passed"]])],
    )
    table = TableBlock("cross-scenario", title, frame, c.origin(True), c.sources, explanation)
    return Section(
        "scenario_summary",
        title,
        [
            table,
            *scenario_note(c),
            published_table("cross-published", "Published, [rpi5-report] section 23", "rpi5_cross_scenario_report"),
        ],
    )
