# SPDX-License-Identifier: Apache-2.0
"""The scenarios side by side."""

import math
from collections.abc import Mapping

import pandas as pd

from pqc_mav_bench.analysis import scenarios
from pqc_mav_bench.analysis.detector_effect import effects
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Block, Notice, Section
from pqc_mav_bench.report.charts import bars, heat
from pqc_mav_bench.report.detector_sentences import added_to_families, detector_sentences, overall_effects
from pqc_mav_bench.report.estimates import of_groups, per_group, per_scenario
from pqc_mav_bench.report.numbers import listed
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import families_of, first_upper, scenario_note, scenario_series
from pqc_mav_bench.report.sections.figures import called, chart, families_in, table
from pqc_mav_bench.report.sections.published_tables import published


def scenario_handshakes(c: ReportInput) -> Section:
    """Median handshake by family and scenario."""
    title, families = "Median handshake by KEM family and scenario", families_in(c.suites)
    series = scenario_series(c, "kem_family", families, "handshake_ms")
    panel = bars.Panel(families, series, "Median handshake (ms, log scale)", "ms", True)
    frame = pd.DataFrame({"KEM family": families} | {s.label: list(s.values) for s in series})
    says = [
        sentences.fastest_slowest(of_groups(families_of(c.baseline)), "median handshake"),
        *detector_sentences(c),
    ]
    meaning = [sentences.longer_suffer_more(added_to_families(c))]
    drawing = bars.grouped([panel], 380)
    drawn = chart(c, "family-scenario", drawing, says, meaning, data=frame, across=True)
    return Section("scenario_handshakes", title, [drawn, *scenario_note(c)])


def _per_scenario(c: ReportInput, column: str, how: str) -> dict[str, float]:
    """The mean or median of a column over all runs that passed, by scenario."""
    passed = c.passed
    parts = {name: passed.loc[passed["scenario"] == name, column] for name in c.scenarios}
    return {called(name): float(values.agg(how)) for name, values in parts.items()}


def _changes(c: ReportInput, column: str, what: str, unit: str, values: Mapping[str, float]) -> list[str]:
    """How a figure differs between the scenarios: each suite against itself; printed figures as they stand."""
    if not c.is_published:
        return [sentences.compared(each, what, called(each.scenario)) for each in effects(c.passed, column=column)]
    base, *others = values.items()
    return [sentences.printed_change(value, base[1], f"{what} under {name}", unit) for name, value in others]


_LOAD = (
    ("cpu_mean_percent", "mean", "Average CPU (%)", "%"),
    ("temperature_mean_c", "mean", "SoC temperature (°C)", "°C"),
    ("sent_packets", "median", "Packets sent (median)", ""),
)


_BOTH = "Both ends of the tunnel ran on this one machine, so its load is that of drone and ground station together."


def scenario_load(c: ReportInput) -> Section:
    """CPU, temperature, packets."""
    panels: list[bars.Panel] = []
    absent: list[str] = []
    lines: list[str] = []
    frame = pd.DataFrame({"Scenario": [called(n) for n in c.scenarios]})
    for column, how, axis, unit in _LOAD:
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
    both = [_BOTH] if c.same_host else []
    title = f"{listed([panel.axis.split(' (')[0] for panel in panels]) or 'Load'} by scenario"
    if panels:
        read = f"{'Each panel has its own scale. ' if len(c.scenarios) > 1 else ''}CPU is of all cores together."
        if len(c.scenarios) == 1:  # a chart of one bar compares nothing
            blocks.append(table(c, "scenario-load", frame, lines, both, title=title, read=read, across=True))
        else:
            own = {"title": title, "read": read}
            drawing = bars.grouped(panels, 320)
            blocks.append(chart(c, "scenario-load", drawing, lines, both, data=frame, across=True, **own))
    why = " The machine offers no such sensor or the workload no such count."
    blocks += [*_absent(c, absent, why), *scenario_note(c), published("scenario-load-published")]
    return Section("scenario_load", title, blocks)


def _absent(c: ReportInput, names: list[str], why: str = "") -> list[Notice]:
    """Which quantities have no values; nothing where all have."""
    return [Notice(f"{first_upper(c.name)} has no values for: {', '.join(names)}.{why}")] if names else []


#: The heatmaps: column, heading, unit; then what sentences call it, and the unit of differences.
_HEAT = (
    ("cpu_mean_percent", "Average CPU (%)", "%", "median of the average CPU load", "points"),
    ("temperature_mean_c", "SoC temperature (°C)", "°C", "median SoC temperature", "°C"),
    ("cpu_peak_percent", "Peak CPU (%)", "%", "median of the peak CPU load", "points"),
)


def scenario_heatmaps(c: ReportInput) -> Section:
    """CPU and temperature heatmap."""
    families, columns = families_in(c.suites), [called(n) for n in c.scenarios]
    pivots = {
        row: c.suites.pivot_table(index="kem_family", columns="scenario", values=row[0], aggfunc="mean")
        for row in _HEAT
    }
    shown = {row: pivot.reindex(index=families, columns=c.scenarios) for row, pivot in pivots.items() if pivot.size}
    panels = [
        heat.Panel(name, families, columns, grid.to_numpy(dtype=float).tolist(), unit)
        for (_, name, unit, *_), grid in shown.items()
    ]
    blocks: list[Block] = []
    title = f"{listed([panel.title.split(' (')[0] for panel in panels]) or 'Load'}, KEM family by scenario"
    if panels:
        column, _, unit, what, apart = next(iter(shown))
        # A suite's mean over its scenarios, so that a family's scatter is not that of the scenarios.
        over = c.suites.groupby(["suite", "kem", "sig", "kem_family"], as_index=False)[column].mean()
        by_family = per_group(c, over, "kem_family", column, families)
        stronger = sentences.stronger(("scenario", per_scenario(c, column)), ("KEM family", by_family), what, apart)
        says = [sentences.extremes(by_family, what, unit, "lowest", "highest"), stronger]
        drawing = heat.heatmaps(panels)
        blocks.append(chart(c, "load-heat", drawing, says, title=title, across=True))
    blocks += _absent(c, [row[1] for row in _HEAT if row not in shown])
    return Section("scenario_heatmaps", title, [*blocks, *scenario_note(c)])


def scenario_summary(c: ReportInput) -> Section:
    """Cross-scenario table."""
    title = "Cross-scenario comparison of nine metrics"
    rows = {called(name): figures for name, figures in scenarios.cross_scenario(c.runs).items()}
    body = [
        [metric, *(figures[metric] for figures in rows.values())] for metric in (*scenarios.METRICS, scenarios.PASSED)
    ]
    lines = overall_effects(c)
    if c.is_published:
        first, *others = ((name, figures["Median handshake (ms)"]) for name, figures in rows.items())
        what = "The median handshake under"
        lines = [sentences.printed_change(ms, first[1], f"{what} {name}", "ms") for name, ms in others]
    if len(rows) == 1:
        lines = [
            f"{name}: {figures[scenarios.PASSED].replace('/', 'of')} runs passed." for name, figures in rows.items()
        ]
    says = [*lines, sentences.loss(c.passed)]
    shown = table(c, "cross-scenario", pd.DataFrame(body, columns=["Metric", *rows]), says, across=True)
    return Section("scenario_summary", title, [shown, *scenario_note(c), published("cross-published")])
