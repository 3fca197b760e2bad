# SPDX-License-Identifier: Apache-2.0
"""The tables and trends of the older results [rpi4-results], made from the campaign, and as published."""

from __future__ import annotations

import pandas as pd

from pqc_mav_bench.analysis.table import LEVELS, SCENARIO_NAMES, has, scenario
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import Block, Explanation, Section, Table
from pqc_mav_bench.report.estimates import per_scenario
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import without
from pqc_mav_bench.report.sections.published_tables import published_table
from pqc_mav_bench.report.sections.suite_tables import suite_table, titled

_TABLES = (
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
        return without(c, f"values for [rpi4-results] Table {number}", "no such suite was measured")
    chosen = rows[rows["suite"].isin(picked)].sort_values(["suite", "scenario"])
    name = next(t for n, t, _, _ in _TABLES if n == number)
    return Table(
        f"experiment-{number}",
        f"{name}, one suite per level, [rpi4-results] Table {number}",
        titled(chosen[["suite", "scenario", *columns]]),
        c.origin(True),
        c.sources,
        folded=True,
    )


_TRENDS = (
    "rpi4_trend1_throughput_loss",
    "rpi4_trend2_family_power",
    "rpi4_trend3_cpu_memory",
    "rpi4_trend4_rtt_vs_crypto",
    "rpi4_trend5_loss",
)


def rpi4_results(c: ReportInput) -> Section:
    """[rpi4-results]: ten tables, five trends."""
    blocks: list[Block] = []
    for number, name, columns, file in _TABLES:
        own = (
            suite_table(c, f"experiment-{number}", f"{name}, [rpi4-results] Table {number}", columns)
            if columns
            else _deep(c, number)
        )
        blocks += [
            own,
            published_table(
                f"experiment-{number}-published", f"{name}, published, [rpi4-results] Table {number}", file
            ),
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
    explanation = Explanation(
        "Means over the suites per scenario: what the document's five trends are about.",
        "Read down a column for a trend.",
        [sentences.extremes(per_scenario(c, "loss_percent"), "median loss", "%", "lowest", "highest")],
    )
    blocks.append(Table("trends", "Trends, [rpi4-results] section 4", frame, c.origin(True), c.sources, explanation))
    blocks += [
        published_table(f"trend-{i}", f"Trend {i}, published, [rpi4-results] 4.{i}", file)
        for i, file in enumerate(_TRENDS, 1)
    ]
    return Section("rpi4_results", "Experimental results: ten tables and five trends", blocks)
