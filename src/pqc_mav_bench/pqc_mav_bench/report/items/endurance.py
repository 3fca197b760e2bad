"""Items 192 and 193: figures and tables of documents 003 and 004."""

from __future__ import annotations

import pandas as pd

from pqc_mav_bench.analysis.statistics import summarise
from pqc_mav_bench.analysis.table import FAMILIES, LEVELS, SCENARIO_NAMES, has, rank, scenario, wide
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import Block, Explanation, Section, Table
from pqc_mav_bench.report.items import diagrams
from pqc_mav_bench.report.items.common import with_values, without
from pqc_mav_bench.report.items.loadtables import suite_table, titled
from pqc_mav_bench.report.items.reference import published_table
from pqc_mav_bench.report.numbers import quantity
from pqc_mav_bench.report.report_input import ReportInput

_PERFORMANCE = ("handshake_ms", "rtt_mean_ms", "loss_percent", "power_mean_w")
_NAMES = {"baseline": "Baseline", "xgboost": "Lightweight", "tst": "Heavyweight"}


def _performance(c: ReportInput) -> list[Block]:
    blocks: list[Block] = []
    files = {
        "baseline": (3, "rpi4_se_baseline_performance"),
        "xgboost": (8, "rpi4_se_lightweight_performance"),
        "tst": (9, "rpi4_se_heavyweight_performance"),
    }
    for name, (number, file) in files.items():
        title = f"{_NAMES[name]} performance (003 Table {number})"
        if name in c.scenarios:
            blocks.append(suite_table(c, f"performance-{name}", title, _PERFORMANCE, name))
        else:
            blocks.append(without(c, f"values for '{title}'", f"the scenario {SCENARIO_NAMES[name]} was not run"))
        blocks.append(
            published_table(
                f"performance-{name}-published", f"{_NAMES[name]} performance, published (003 Table {number})", file
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
    return Table("level-ranges", "Ranges by NIST level (003 Table 4)", frame, c.origin(), c.sources)


def _representatives(c: ReportInput) -> Block:
    """Latency against power for the fastest, the median and the slowest suite."""
    rows = rank(with_values(c, "handshake_ms"), "handshake_ms")
    if not len(rows):
        return without(c, "values for 'Latency against power (003 Table 5)'", "no handshake was timed")
    picked = rows.iloc[sorted({0, len(rows) // 2, len(rows) - 1})]
    columns = [k for k in ("handshake_ms", "primitives_ms", "power_mean_w") if has(picked, k)]
    ratio = float(picked["handshake_ms"].iloc[-1] / picked["handshake_ms"].iloc[0])
    power = picked["power_mean_w"].dropna()
    spread = f" while power differs by {quantity(float(power.max() - power.min()), 'W')}" if len(power) > 1 else ""
    explanation = Explanation(
        "Fastest, middle and slowest suite.",
        "Handshake time and power side by side.",
        [f"The slowest handshake takes {ratio:,.0f} times as long as the fastest{spread}."],
    )
    return Table(
        "latency-power",
        "Latency against power (003 Table 5)",
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
    return Table("bands", "Power bands by KEM family (003 Table 6)", frame, c.origin(), c.sources)


def _family(c: ReportInput, family: str, number: int) -> Block:
    rows = c.baseline[c.baseline["kem_family"] == family]
    columns = [
        k for k in ("handshake_ms", "primitives_ms", "rtt_mean_ms", "loss_percent", "power_mean_w") if has(rows, k)
    ]
    if not columns:
        return without(c, f"results of {family}", "no suite of that family was measured")
    return Table(
        f"family-{family.lower()}",
        f"{family} results (003 Table {number})",
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
        "scenario-power", "Power in the scenarios (003 Table 10)", frame, c.origin(True), c.sources, folded=True
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
    cpu = {str(r[0]): float(r[1]) for r in body}
    explanation = Explanation(
        "Processor and memory per scenario, means over the suites.",
        "As in the document, CPU is the mean of the suites' peaks.",
        [sentences.extremes(cpu, "mean peak CPU", "%", "lowest", "highest")],
    )
    return Table(
        "scenario-resources", "Resources by scenario (003 Table 11)", frame, c.origin(True), c.sources, explanation
    )


def _best_worst(c: ReportInput) -> Block:
    rows = with_values(c, "power_mean_w")
    if not has(rows, "power_mean_w"):
        return without(c, "best and worst policy power", "no power figure exists")
    ordered = rank(rows, "power_mean_w", ascending=False)
    ends = ordered.iloc[[0, -1]]
    columns = [k for k in ("power_mean_w", "energy_j", "cpu_peak_percent") if has(ends, k)]
    frame = titled(ends[["suite", *columns]])
    frame.insert(0, "Policy", ["worst", "best"])
    return Table("best-worst", "Worst and best power (003 Table 14)", frame, c.origin(), c.sources)


def item_192(c: ReportInput) -> Section:
    """Document 003: five figures, fourteen tables."""
    title = "Security vs. Endurance paper: five figures and fourteen tables"
    same = "same_host" in c.runs and bool((c.runs["same_host"].fillna(0).astype(float) == 1).any())
    codes = c.suites.drop_duplicates("suite")[["suite", "kem", "aead", "sig", "nist_level"]]
    blocks: list[Block] = [
        diagrams.concept("endurance-concept"),
        diagrams.architecture("endurance-architecture"),
        diagrams.handshake("endurance-handshake"),
        diagrams.pipeline("endurance-pipeline"),
        diagrams.bench("endurance-bench", same),
        Table(
            "composition",
            "Suites and their algorithms (003 Table 1)",
            codes.set_axis(["Suite", "KEM", "AEAD", "Signature", "Level"], axis=1),
            c.origin(),
            c.sources,
            folded=True,
        ),
        published_table(
            "composition-published", "Example composition, published (003 Table 1)", "suite_short_code_examples"
        ),
        published_table(
            "legend-published", "Legend of short codes, published (003 Table 2)", "suite_short_code_legend"
        ),
        *_performance(c),
        _level_ranges(c),
        published_table(
            "level-ranges-published", "Ranges by level, published (003 Table 4)", "rpi4_se_baseline_by_level"
        ),
        _representatives(c),
        published_table(
            "latency-power-published", "Latency against power, published (003 Table 5)", "rpi4_se_latency_vs_power"
        ),
        _bands(c),
        published_table("bands-published", "Power bands, published (003 Table 6)", "rpi4_se_power_bands_by_family"),
    ]
    for family, number, file in (
        ("ML-KEM", 7, "rpi4_se_mlkem_results"),
        ("Classic-McEliece", 12, "rpi4_se_mceliece_results"),
        ("HQC", 13, "rpi4_se_hqc_results"),
    ):
        blocks += [
            _family(c, family, number),
            published_table(f"family-{number}-published", f"{family} results, published (003 Table {number})", file),
        ]
    blocks += [
        _scenario_power(c),
        published_table(
            "scenario-power-published",
            "Power in three scenarios, published (003 Table 10)",
            "rpi4_se_power_three_scenarios",
        ),
        _scenario_resources(c),
        published_table(
            "scenario-resources-published", "Resources, published (003 Table 11)", "rpi4_se_resource_by_scenario"
        ),
        _best_worst(c),
        published_table(
            "best-worst-published", "Worst and best, published (003 Table 14)", "rpi4_se_scheduler_best_worst"
        ),
    ]
    return Section(192, title, blocks)


_TABLES_004 = (
    (
        1,
        "Network performance",
        ("throughput_mbps", "goodput_mbps", "loss_percent", "rtt_mean_ms"),
        "rpi4_suites_lightweight_network",
    ),
    (2, "Network by policy", (), "rpi4_network_by_policy_representative"),
    (
        3,
        "Primitives",
        ("kem_keygen_ms", "kem_decaps_ms", "sig_sign_ms", "primitives_ms"),
        "rpi4_primitives_lightweight",
    ),
    (4, "Power and energy", ("power_mean_w", "energy_j"), "rpi4_power_energy"),
    (5, "CPU and memory", ("cpu_peak_percent", "tunnel_rss_mib"), "rpi4_cpu_memory"),
    (6, "Round trips", ("rtt_p50_ms", "rtt_p95_ms", "rtt_max_ms"), "rpi4_rtt_heavyweight"),
    (7, "Packets", ("sent_packets", "received_packets", "loss_percent"), "rpi4_packets_by_policy"),
    (8, "Handshake", ("handshake_ms",), "rpi4_handshake_lightweight"),
    (9, "Classic McEliece in depth", (), "rpi4_mceliece_deep_dive"),
    (10, "ML-KEM in depth", (), "rpi4_mlkem_deep_dive"),
)
_TRENDS = (
    "rpi4_trend1_throughput_loss",
    "rpi4_trend2_family_power",
    "rpi4_trend3_cpu_memory",
    "rpi4_trend4_rtt_vs_crypto",
    "rpi4_trend5_loss",
)


def _deep(c: ReportInput, number: int) -> Block:
    """Tables 2, 9 and 10: some suites in every scenario."""
    columns = [
        k
        for k in (
            "throughput_mbps",
            "loss_percent",
            "rtt_mean_ms",
            "primitives_ms",
            "power_mean_w",
            "cpu_peak_percent",
            "tunnel_rss_mib",
        )
        if has(c.suites, k)
    ]
    family = {9: "Classic-McEliece", 10: "ML-KEM"}.get(number)
    rows = c.suites[c.suites["kem_family"] == family] if family else c.suites
    picked = [
        rows[rows["nist_level"] == level]["suite"].iloc[0] for level in LEVELS if (rows["nist_level"] == level).any()
    ]
    if not picked or not columns:
        return without(c, f"values for 004 Table {number}", "no such suite was measured")
    chosen = rows[rows["suite"].isin(picked)].sort_values(["suite", "scenario"])
    name = next(t for n, t, _, _ in _TABLES_004 if n == number)
    return Table(
        f"experiment-{number}",
        f"{name}, one suite per level (004 Table {number})",
        titled(chosen[["suite", "scenario", *columns]]),
        c.origin(True),
        c.sources,
        folded=True,
    )


def item_193(c: ReportInput) -> Section:
    """Document 004: ten tables, five trends."""
    blocks: list[Block] = []
    for number, name, columns, file in _TABLES_004:
        own = (
            suite_table(c, f"experiment-{number}", f"{name} (004 Table {number})", columns)
            if columns
            else _deep(c, number)
        )
        blocks += [
            own,
            published_table(f"experiment-{number}-published", f"{name}, published (004 Table {number})", file),
        ]
    trend_rows = [
        [
            SCENARIO_NAMES.get(n, n),
            *(
                scenario(c.suites, n)[k].mean()
                for k in (
                    "throughput_mbps",
                    "loss_percent",
                    "power_mean_w",
                    "cpu_peak_percent",
                    "tunnel_rss_mib",
                    "rtt_mean_ms",
                )
            ),
        ]
        for n in c.scenarios
    ]
    headings = ["Scenario", "Throughput (Mb/s)", "Loss (%)", "Power (W)", "Peak CPU (%)", "RSS (MiB)", "RTT (ms)"]
    frame = pd.DataFrame(trend_rows, columns=headings).dropna(axis=1, how="all")
    losses = {str(r[0]): float(r[2]) for r in trend_rows}
    explanation = Explanation(
        "Means over the suites per scenario: what the document's five trends are about.",
        "Read down a column for a trend.",
        [sentences.extremes(losses, "mean loss", "%", "lowest", "highest")],
    )
    blocks.append(Table("trends", "Trends (004 section 4)", frame, c.origin(True), c.sources, explanation))
    blocks += [
        published_table(f"trend-{i}", f"Trend {i}, published (004 4.{i})", file) for i, file in enumerate(_TRENDS, 1)
    ]
    return Section(193, "Experimental results: ten tables and five trends", blocks)
