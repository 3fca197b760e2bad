# SPDX-License-Identifier: Apache-2.0
"""The figures and tables of Security vs. Endurance [endurance-paper], made from the campaign, and as published."""

from __future__ import annotations

import pandas as pd

from pqc_mav_bench.analysis.estimate import Estimate, of_suites
from pqc_mav_bench.analysis.statistics import summarise
from pqc_mav_bench.analysis.table import FAMILIES, LEVELS, SCENARIO_NAMES, has, rank, scenario, wide
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import Block, Explanation, Section, Table, see
from pqc_mav_bench.report.estimates import per_scenario
from pqc_mav_bench.report.numbers import number, quantity
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections import diagrams
from pqc_mav_bench.report.sections.common import with_values, without
from pqc_mav_bench.report.sections.published_tables import published_table
from pqc_mav_bench.report.sections.suite_tables import NO_RANKING, suite_table, titled

_NAMES = {"baseline": "Baseline", "xgboost": "Lightweight", "tst": "Heavyweight"}


_PERFORMANCE = ("handshake_ms", "rtt_mean_ms", "loss_percent", "power_mean_w")


def _performance(c: ReportInput) -> list[Block]:
    blocks: list[Block] = []
    files = {
        "baseline": (3, "rpi4_se_baseline_performance"),
        "xgboost": (8, "rpi4_se_lightweight_performance"),
        "tst": (9, "rpi4_se_heavyweight_performance"),
    }
    for name, (place, file) in files.items():
        title = f"{_NAMES[name]} performance, [endurance-paper] Table {place}"
        if name in c.scenarios:
            blocks.append(suite_table(c, f"performance-{name}", title, _PERFORMANCE, name))
        else:
            blocks.append(without(c, f"values for '{title}'", f"the scenario {SCENARIO_NAMES[name]} was not run"))
        blocks.append(
            published_table(
                f"performance-{name}-published",
                f"{_NAMES[name]} performance, published, [endurance-paper] Table {place}",
                file,
            )
        )
    return blocks


def _level_ranges(c: ReportInput) -> Block:
    rows = []
    for level in LEVELS:
        part = c.baseline[c.baseline["nist_level"] == level]
        if len(part):
            cells: list[object] = [f"Level {level}", len(part)]
            for column in ("handshake_ms", "loss_percent", "power_mean_w"):
                s = summarise(part[column])
                cells += [s.minimum, s.maximum]
            rows.append(cells)
    names = [f"{what} {end}" for what in ("Handshake (ms)", "Loss (%)", "Power (W)") for end in ("min", "max")]
    frame = pd.DataFrame(rows, columns=["Level", "Suites", *names]).dropna(axis=1, how="all")
    return Table("level-ranges", "Ranges by NIST level, [endurance-paper] Table 4", frame, c.origin(), c.sources)


def _representatives(c: ReportInput) -> Block:
    """Latency against power for the fastest, the median and the slowest suite."""
    rows = rank(with_values(c, "handshake_ms"), "handshake_ms")
    if not len(rows):
        return without(c, "values for 'Latency against power ([endurance-paper] Table 5)'", "no handshake was timed")
    picked = rows.iloc[sorted({0, len(rows) // 2, len(rows) - 1})]
    columns = [k for k in ("handshake_ms", "primitives_ms", "power_mean_w") if has(picked, k)]
    power = picked["power_mean_w"].dropna()
    spread = f" while power differs by {quantity(float(power.max() - power.min()), 'W')}" if len(power) > 1 else ""
    first, last = (of_suites(picked.iloc[[place]]) for place in (0, -1))
    ratio = Estimate(last.value / first.value, last.low / first.high, last.high / first.low)
    between = "" if ratio.is_exact else f" ({number(ratio.low)} to {number(ratio.high)} by the 95 % intervals)"
    apart = (
        f"The slowest handshake takes {number(ratio.value)} times as long as the fastest{between}"
        if first.below(last)
        else ""
    )
    explanation = Explanation(
        "Fastest, middle and slowest suite.",
        "Handshake time and power side by side.",
        [f"{apart}{spread}." if apart else ""],
    )
    return Table(
        "latency-power",
        "Latency against power, [endurance-paper] Table 5",
        titled(picked[["suite", *columns]]),
        c.origin(),
        c.sources,
        explanation,
    )


def _bands(c: ReportInput) -> Block:
    rows = with_values(c, "power_mean_w")
    if not has(rows, "power_mean_w"):
        return without(c, "power bands", "no power figure exists")
    body = []
    for family in (f for f in FAMILIES if f in set(rows["kem_family"])):
        part = rows[rows["kem_family"] == family]
        power, energy = summarise(part["power_mean_w"]), summarise(part["energy_j"])
        body.append([family, power.minimum, power.maximum, energy.minimum, energy.maximum])
    frame = pd.DataFrame(
        body, columns=["KEM family", "Power min (W)", "Power max (W)", "Energy min (J)", "Energy max (J)"]
    )
    return Table("bands", "Power bands by KEM family, [endurance-paper] Table 6", frame, c.origin(), c.sources)


def _family(c: ReportInput, family: str, place: int) -> Block:
    rows = c.baseline[c.baseline["kem_family"] == family]
    columns = [
        k for k in ("handshake_ms", "primitives_ms", "rtt_mean_ms", "loss_percent", "power_mean_w") if has(rows, k)
    ]
    if not columns:
        return without(c, f"results of {family}", "no suite of that family was measured")
    return Table(
        f"family-{family.lower()}",
        f"{family} results, [endurance-paper] Table {place}",
        titled(rows[["suite", *columns]]),
        c.origin(),
        c.sources,
        folded=True,
    )


def _scenario_power(c: ReportInput) -> Block:
    grid = wide(c.suites, "power_mean_w")
    if grid.empty:
        return without(c, "power by scenario", "no power figure exists")
    frame = grid.rename(columns={n: f"{SCENARIO_NAMES.get(n, n)} (W)" for n in grid.columns}).reset_index(names="Suite")
    return Table(
        "scenario-power",
        "Power in the scenarios, [endurance-paper] Table 10",
        frame,
        c.origin(True),
        c.sources,
        folded=True,
    )


def _scenario_resources(c: ReportInput) -> Block:
    body = [
        [
            SCENARIO_NAMES.get(n, n),
            scenario(c.suites, n)["cpu_peak_percent"].mean(),
            scenario(c.suites, n)["tunnel_rss_mib"].mean(),
        ]
        for n in c.scenarios
    ]
    frame = pd.DataFrame(body, columns=["Scenario", "Mean of peak CPU (%)", "Mean RSS (MiB)"])
    explanation = Explanation(
        "Processor and memory per scenario, means over the suites.",
        "As in the document, CPU is the mean of the suites' peaks.",
        [sentences.extremes(per_scenario(c, "cpu_peak_percent"), "median peak CPU", "%", "lowest", "highest")],
    )
    return Table(
        "scenario-resources",
        "Resources by scenario, [endurance-paper] Table 11",
        frame,
        c.origin(True),
        c.sources,
        explanation,
    )


def _best_worst(c: ReportInput) -> Block:
    rows = with_values(c, "power_mean_w")
    if not has(rows, "power_mean_w"):
        return without(c, "best and worst policy power", "no power figure exists")
    ordered = rank(rows, "power_mean_w", ascending=False)
    ends = ordered.iloc[[0, -1]]
    columns = [k for k in ("power_mean_w", "energy_j", "cpu_peak_percent") if has(ends, k)]
    frame = titled(ends[["suite", *columns]])
    frame.insert(0, "Policy", ["worst", "best"] if c.is_published else ["highest figure", "lowest figure"])
    explanation = None if c.is_published else Explanation("The two ends of the column.", NO_RANKING, [])
    return Table(
        "best-worst", "Worst and best power, [endurance-paper] Table 14", frame, c.origin(), c.sources, explanation
    )


def endurance_paper(c: ReportInput) -> Section:
    """[endurance-paper]: five figures, fourteen tables."""
    title = "Security vs. Endurance paper: five figures and fourteen tables"
    same = "same_host" in c.runs and bool((c.runs["same_host"].fillna(0).astype(float) == 1).any())
    codes = c.runs.drop_duplicates("suite")[["suite", "suite_id", "kem", "aead", "sig", "nist_level"]]
    blocks: list[Block] = [
        diagrams.concept("endurance-concept"),
        see("paper-architecture", "The system's overview", "Architecture"),
        see("paper-handshake", "The handshake", "Handshake"),
        diagrams.pipeline("endurance-pipeline"),
        diagrams.bench("endurance-bench", same),
        Table(
            "composition",
            "Suites and their algorithms, [endurance-paper] Table 1",
            codes.set_axis(["Suite", "Id", "KEM", "AEAD", "Signature", "Level"], axis=1),
            c.origin(),
            c.sources,
            folded=True,
        ),
        published_table(
            "composition-published",
            "Example composition, published, [endurance-paper] Table 1",
            "suite_short_code_examples",
        ),
        published_table(
            "legend-published", "Legend of short codes, published, [endurance-paper] Table 2", "suite_short_code_legend"
        ),
        *_performance(c),
        _level_ranges(c),
        published_table(
            "level-ranges-published",
            "Ranges by level, published, [endurance-paper] Table 4",
            "rpi4_se_baseline_by_level",
        ),
        _representatives(c),
        published_table(
            "latency-power-published",
            "Latency against power, published, [endurance-paper] Table 5",
            "rpi4_se_latency_vs_power",
        ),
        _bands(c),
        published_table(
            "bands-published", "Power bands, published, [endurance-paper] Table 6", "rpi4_se_power_bands_by_family"
        ),
    ]
    for family, place, file in (
        ("ML-KEM", 7, "rpi4_se_mlkem_results"),
        ("Classic-McEliece", 12, "rpi4_se_mceliece_results"),
        ("HQC", 13, "rpi4_se_hqc_results"),
    ):
        blocks += [
            _family(c, family, place),
            published_table(
                f"family-{place}-published", f"{family} results, published, [endurance-paper] Table {place}", file
            ),
        ]
    blocks += [
        _scenario_power(c),
        published_table(
            "scenario-power-published",
            "Power in three scenarios, published, [endurance-paper] Table 10",
            "rpi4_se_power_three_scenarios",
        ),
        _scenario_resources(c),
        published_table(
            "scenario-resources-published",
            "Resources, published, [endurance-paper] Table 11",
            "rpi4_se_resource_by_scenario",
        ),
        _best_worst(c),
        published_table(
            "best-worst-published",
            "Worst and best, published, [endurance-paper] Table 14",
            "rpi4_se_scheduler_best_worst",
        ),
    ]
    return Section("endurance_paper", title, blocks)
