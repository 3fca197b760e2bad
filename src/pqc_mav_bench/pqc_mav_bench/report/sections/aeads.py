# SPDX-License-Identifier: Apache-2.0
"""AEADs: sealing and opening a packet as the engine timed it while traffic ran."""

from __future__ import annotations

import math

import pandas as pd

from pqc_mav_bench.analysis.table import has
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Chart, Explanation, Section, Table
from pqc_mav_bench.report.charts import bars
from pqc_mav_bench.report.numbers import duration
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import (
    aead_order,
    medians,
    without,
)
from pqc_mav_bench.report.sections.published_tables import published_table


def _budget(seal_mean_us: float) -> str:
    """What the slowest cipher takes of every second of telemetry."""
    busy = 320 * seal_mean_us / 1e3
    text = f"At 320 packets a second the slowest spends {duration(busy)} of every second on encryption"
    return f"{text}; the choice of cipher does not limit telemetry." if busy < 50 else f"{text}."


def aeads(c: ReportInput) -> Section:
    """AEADs per packet."""
    title = "AEAD encryption and decryption per packet, relative to Ascon"
    published = published_table(
        "aead-published",
        "AEADs per packet, published, [rpi5-report] section 10 (Raspberry Pi 5)",
        "rpi5_aead_per_packet_report",
    )
    if not has(c.suites, "seal_mean_us"):
        return Section("aeads", title, [without(c, "AEAD times", "the proxies counted no packet"), published])
    order = aead_order(c.suites)
    seal, opening = medians(c.baseline, "aead", "seal_mean_us"), medians(c.baseline, "aead", "open_mean_us")
    series = [
        bars.Series("Encrypt", [seal.get(n, math.nan) for n in order], palette.light("blue")),
        bars.Series("Decrypt", [opening.get(n, math.nan) for n in order], palette.light("orange"), "///"),
    ]
    ascon = seal.get("Ascon-128a", math.nan)
    frame = pd.DataFrame(
        {
            "AEAD": order,
            "Encrypt (µs)": series[0].values,
            "Decrypt (µs)": series[1].values,
            "Encrypt, relative to Ascon": [seal.get(n, math.nan) / ascon for n in order],
        }
    )
    fastest = min(seal, key=seal.__getitem__) if seal else ""
    agrees = (
        "As published, Ascon-128a is the fastest of the three."
        if fastest == "Ascon-128a"
        else f"In the documents Ascon-128a is the fastest; here {fastest} is."
    )
    explanation = Explanation(
        "Median time of the tunnel's engine to seal and to open one packet of the workload, sampled while traffic ran.",
        "Only the cipher and its framing are timed, not the system calls that carry the packet.",
        [sentences.extremes(seal, "encryption time", "µs"), agrees if len(seal) == 3 else ""],
        [_budget(max(seal.values()))],
    )
    chart = Chart(
        "aead",
        title,
        "Bars of encryption and decryption time per packet for each cipher.",
        bars.grouped([bars.Panel(order, series, "Time per packet (µs)", "µs")], 340),
        c.origin(),
        c.sources,
        None,
        explanation,
    )
    return Section(
        "aeads", title, [chart, Table("aead-relative", "AEAD times", frame, c.origin(), c.sources), published]
    )
