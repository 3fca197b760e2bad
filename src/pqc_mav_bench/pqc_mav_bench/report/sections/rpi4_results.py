# SPDX-License-Identifier: Apache-2.0
"""The tables and trends of the older results [rpi4-results], made from the campaign, and as published."""

from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import Block, Section
from pqc_mav_bench.report.estimates import per_scenario
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import families_of, levels_of, without
from pqc_mav_bench.report.sections.figures import scenarios_table, table
from pqc_mav_bench.report.sections.published_tables import published_table
from pqc_mav_bench.report.sections.suite_tables import present, suite_table, titled

#: The tables in their order: what, columns (none: some suites in every scenario), published file.
_TABLES = (
    ("Network performance", "throughput_mbps goodput_mbps loss_percent rtt_mean_ms", "suites_lightweight_network"),
    ("Network by policy", "", "network_by_policy_representative"),
    ("Primitives", "kem_keygen_ms kem_decaps_ms sig_sign_ms primitives_ms", "primitives_lightweight"),
    ("Power and energy", "power_mean_w energy_j", "power_energy"),
    ("CPU and memory", "cpu_peak_percent tunnel_rss_mib", "cpu_memory"),
    ("Round trips", "rtt_p50_ms rtt_p95_ms rtt_max_ms", "rtt_heavyweight"),
    ("Packets", "sent_packets received_packets loss_percent", "packets_by_policy"),
    ("Handshake", "handshake_ms", "handshake_lightweight"),
    ("Classic McEliece in depth", "", "mceliece_deep_dive"),
    ("ML-KEM in depth", "", "mlkem_deep_dive"),
)
_DEEP = "throughput_mbps loss_percent rtt_mean_ms primitives_ms power_mean_w cpu_peak_percent tunnel_rss_mib"
_TRENDS = ("throughput_loss", "family_power", "cpu_memory", "rtt_vs_crypto", "loss")
_MEANS = {
    "throughput_mbps": "Throughput (Mb/s)",
    "loss_percent": "Loss (%)",
    "power_mean_w": "Power (W)",
    "cpu_peak_percent": "Peak CPU (%)",
    "tunnel_rss_mib": "RSS (MiB)",
    "rtt_mean_ms": "RTT (ms)",
}


def _deep(c: ReportInput, number: int, name: str) -> Block:
    """Tables 2, 9 and 10: some suites in every scenario."""
    columns = present(c.suites, *_DEEP.split())
    family = {9: "Classic-McEliece", 10: "ML-KEM"}.get(number)
    rows = families_of(c.suites)[family] if family else c.suites
    picked = [part["suite"].iloc[0] for part in levels_of(rows).values() if len(part)]
    if not picked or not columns:
        return without(c, f"values for [rpi4-results] Table {number}", "no such suite was measured")
    chosen = rows[rows["suite"].isin(picked)].sort_values(["suite", "scenario"])
    frame = titled(chosen[["suite", "scenario", *columns]])
    return table(c, f"experiment-{number}", frame, of="experiment", across=True, folded=True, name=name, number=number)


def rpi4_results(c: ReportInput) -> Section:
    """[rpi4-results]: ten tables, five trends."""
    blocks: list[Block] = []
    for number, (name, columns, file) in enumerate(_TABLES, 1):
        key, where = f"experiment-{number}", f"[rpi4-results] Table {number}"
        if columns:
            blocks.append(suite_table(c, key, f"{name}, {where}", columns.split()))
        else:
            blocks.append(_deep(c, number, name))
        blocks.append(published_table(f"{key}-published", name, where, f"rpi4_{file}"))
    says = [sentences.extremes(per_scenario(c, "loss_percent"), "median loss", "%", "lowest", "highest")]
    frame = scenarios_table(c, _MEANS).dropna(axis=1, how="all")
    blocks.append(table(c, "trends", frame, says, across=True))
    for i, file in enumerate(_TRENDS, 1):
        blocks.append(published_table(f"trend-{i}", f"Trend {i}", f"[rpi4-results] 4.{i}", f"rpi4_trend{i}_{file}"))
    return Section("rpi4_results", "Experimental results: ten tables and five trends", blocks)
