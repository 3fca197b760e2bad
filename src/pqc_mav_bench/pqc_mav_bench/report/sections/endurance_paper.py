# SPDX-License-Identifier: Apache-2.0
"""The figures and tables of Security vs. Endurance [endurance-paper], made from the campaign, and as published."""

from typing import Any

from pqc_mav_bench.analysis.estimate import Estimate, of_suites
from pqc_mav_bench.analysis.table import SCENARIO_NAMES, has, rank, wide
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import Block, Section, see
from pqc_mav_bench.report.estimates import per_scenario
from pqc_mav_bench.report.numbers import number, quantity
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections import diagrams
from pqc_mav_bench.report.sections.common import families_of, levels_of, with_values, without
from pqc_mav_bench.report.sections.figures import called, groups_table, scenarios_table, table
from pqc_mav_bench.report.sections.published_tables import published
from pqc_mav_bench.report.sections.suite_tables import NO_RANKING, present, suite_table, titled

_MIN_MAX = {"min": "minimum", "max": "maximum"}


def _performance(c: ReportInput) -> list[Block]:
    blocks: list[Block] = []
    names = {"baseline": "Baseline", "xgboost": "Lightweight", "tst": "Heavyweight"}
    for place, name in zip((3, 8, 9), names, strict=True):
        title = f"{names[name]} performance, [endurance-paper] Table {place}"
        columns = ("handshake_ms", "rtt_mean_ms", "loss_percent", "power_mean_w")
        if name in c.scenarios:
            blocks.append(suite_table(c, f"performance-{name}", title, columns, name))
        else:
            blocks.append(without(c, f"values for '{title}'", f"the scenario {SCENARIO_NAMES[name]} was not run"))
        blocks.append(published(f"performance-{name}-published"))
    return blocks


def _level_ranges(c: ReportInput) -> Block:
    columns = {"handshake_ms": "Handshake (ms) {}", "loss_percent": "Loss (%) {}", "power_mean_w": "Power (W) {}"}
    frame = groups_table("Level", levels_of(c.baseline), columns, _MIN_MAX)
    return table(c, "level-ranges", frame)


def _representatives(c: ReportInput) -> Block:
    """Latency against power for the fastest, the median and the slowest suite."""
    rows = rank(with_values(c, "handshake_ms"), "handshake_ms")
    if not len(rows):
        return without(c, "values for 'Latency against power ([endurance-paper] Table 5)'", "no handshake was timed")
    picked = rows.iloc[sorted({0, len(rows) // 2, len(rows) - 1})]
    power = picked["power_mean_w"].dropna()
    spread = f" while power differs by {quantity(float(power.max() - power.min()), 'W')}" if len(power) > 1 else ""
    first, last = (of_suites(picked.iloc[[place]]) for place in (0, -1))
    ratio = Estimate(last.value / first.value, last.low / first.high, last.high / first.low)
    between = "" if ratio.is_exact else f" ({number(ratio.low)} to {number(ratio.high)} by the 95 % intervals)"
    apart = f"The slowest handshake takes {number(ratio.value)} times as long as the fastest{between}{spread}."
    frame = titled(picked[["suite", *present(picked, "handshake_ms", "primitives_ms", "power_mean_w")]])
    return table(c, "latency-power", frame, [apart if first.below(last) else ""])


def _bands(c: ReportInput) -> Block:
    rows = with_values(c, "power_mean_w")
    if not has(rows, "power_mean_w"):
        return without(c, "power bands", "no power figure exists")
    columns = {"power_mean_w": "Power {} (W)", "energy_j": "Energy {} (J)"}
    frame = groups_table("KEM family", families_of(rows), columns, _MIN_MAX, counted=False)
    return table(c, "bands", frame)


def _family(c: ReportInput, family: str, place: int) -> Block:
    rows = families_of(c.baseline)[family]
    columns = present(rows, "handshake_ms", "primitives_ms", "rtt_mean_ms", "loss_percent", "power_mean_w")
    if not columns:
        return without(c, f"results of {family}", "no suite of that family was measured")
    return table(
        c,
        f"family-{family.lower()}",
        titled(rows[["suite", *columns]]),
        of="family",
        folded=True,
        family=family,
        place=place,
    )


def _scenario_power(c: ReportInput) -> Block:
    grid = wide(c.suites, "power_mean_w")
    if grid.empty:
        return without(c, "power by scenario", "no power figure exists")
    frame = grid.rename(columns={n: f"{called(n)} (W)" for n in grid.columns}).reset_index(names="Suite")
    return table(c, "scenario-power", frame, across=True, folded=True)


def _scenario_resources(c: ReportInput) -> Block:
    frame = scenarios_table(c, {"cpu_peak_percent": "Mean of peak CPU (%)", "tunnel_rss_mib": "Mean RSS (MiB)"})
    says = [sentences.extremes(per_scenario(c, "cpu_peak_percent"), "median peak CPU", "%", "lowest", "highest")]
    return table(c, "scenario-resources", frame, says, across=True)


def _best_worst(c: ReportInput) -> Block:
    rows = with_values(c, "power_mean_w")
    if not has(rows, "power_mean_w"):
        return without(c, "best and worst policy power", "no power figure exists")
    ends = rank(rows, "power_mean_w", ascending=False).iloc[[0, -1]]
    frame = titled(ends[["suite", *present(ends, "power_mean_w", "energy_j", "cpu_peak_percent")]])
    frame.insert(0, "Policy", ["worst", "best"] if c.is_published else ["highest figure", "lowest figure"])
    own: dict[str, Any] = {} if c.is_published else {"shows": "The two ends of the column.", "read": NO_RANKING}
    return table(c, "best-worst", frame, **own)


def _composition(c: ReportInput) -> Block:
    codes = c.runs.drop_duplicates("suite")[["suite", "suite_id", "kem", "aead", "sig", "nist_level"]]
    frame = codes.set_axis(["Suite", "Id", "KEM", "AEAD", "Signature", "Level"], axis=1)
    return table(c, "composition", frame, folded=True)


def endurance_paper(c: ReportInput) -> Section:
    """[endurance-paper]: five figures, fourteen tables."""
    blocks: list[Block] = [
        diagrams.diagram("endurance-concept"),
        see("paper-architecture", "The system's overview", "Architecture"),
        see("paper-handshake", "The handshake", "Handshake"),
        diagrams.diagram("endurance-pipeline"),
        diagrams.bench("endurance-bench", c.same_host),
        _composition(c),
        published("composition-published"),
        published("legend-published"),
        *_performance(c),
    ]
    for block, key in (
        (_level_ranges(c), "level-ranges"),
        (_representatives(c), "latency-power"),
        (_bands(c), "bands"),
        (_family(c, "ML-KEM", 7), "family-7"),
        (_family(c, "Classic-McEliece", 12), "family-12"),
        (_family(c, "HQC", 13), "family-13"),
        (_scenario_power(c), "scenario-power"),
        (_scenario_resources(c), "scenario-resources"),
        (_best_worst(c), "best-worst"),
    ):
        blocks += [block, published(f"{key}-published")]
    return Section("endurance_paper", "Security vs. Endurance paper: five figures and fourteen tables", blocks)
