# SPDX-License-Identifier: Apache-2.0
"""AEADs: sealing and opening a packet as the engine timed it while traffic ran."""

import math
from typing import Any

import pandas as pd

from pqc_mav_bench.analysis import estimate
from pqc_mav_bench.analysis.table import has
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Block, Section
from pqc_mav_bench.report.charts import bars
from pqc_mav_bench.report.estimates import per_member
from pqc_mav_bench.report.numbers import MISSING, duration, listed
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import aead_order, against_alone, medians, shown_intervals, without
from pqc_mav_bench.report.sections.figures import chart, table
from pqc_mav_bench.report.sections.published_tables import published

_PUBLISHED = "Ascon-128a"  # fastest in the documents


def _budget(seal_mean_us: float) -> str:
    """What the slowest cipher takes of every second of telemetry."""
    busy = 320 * seal_mean_us / 1e3
    text = f"At 320 packets a second the slowest spends {duration(busy)} of every second on encryption"
    return f"{text}; the choice of cipher does not limit telemetry." if busy < 50 else f"{text}."


def _fastest(c: ReportInput) -> str:
    """Which cipher seals fastest, held against the documents; a tie where the intervals of the medians overlap."""
    times = per_member(c, c.baseline, "aead", "seal_mean_us")
    if len(times) != 3 or not all(each.has_interval for each in times.values()):
        return ""
    least, *tied = estimate.least(times)
    if tied:
        return (
            f"In the documents {_PUBLISHED} is the fastest; here {least} and {listed(tied)} are a tie: the 95 % "
            "intervals of their medians overlap."
        )
    if least == _PUBLISHED:
        return f"As published, {_PUBLISHED} is the fastest of the three."
    return f"In the documents {_PUBLISHED} is the fastest; here {least} is, by more than the 95 % intervals."


#: The first of them that was measured is the yardstick: the documents' own, or today's.
_ASCON = (_PUBLISHED, "Ascon-AEAD128")
_WAYS = {"seal": "Encrypt", "open": "Decrypt"}


def aeads(c: ReportInput) -> Section:
    """AEADs per packet."""
    title = "AEAD encryption and decryption per packet"
    if not has(c.suites, "seal_mean_us"):
        none = without(c, "AEAD times", "the proxies counted no packet")
        return Section("aeads", title, [none, published("aead-published")])
    order = aead_order(c.suites)
    middles = {way: medians(c.baseline, "aead", f"{way}_mean_us") for way in _WAYS}
    times = {way: per_member(c, c.baseline, "aead", f"{way}_mean_us") for way in _WAYS}
    seal = middles["seal"]
    columns: dict[str, list[Any]] = {"AEAD": order}
    for way, name in _WAYS.items():
        spans = {} if c.is_published else shown_intervals(times[way])
        columns[f"{name} (µs)"] = [middles[way].get(n, math.nan) for n in order]
        columns[f"{name}, 95 % interval"] = [spans.get(n, MISSING) for n in order]
    columns["Runs"] = [int((c.baseline["aead"] == n).sum()) for n in order]
    if ascon := next((name for name in _ASCON if name in seal), ""):
        columns[f"Encrypt, relative to {ascon}"] = [seal.get(n, math.nan) / seal[ascon] for n in order]
    series = [
        bars.Series("Encrypt", columns["Encrypt (µs)"], palette.light("blue")),
        bars.Series("Decrypt", columns["Decrypt (µs)"], palette.light("orange"), "///"),
    ]
    says = [sentences.extremes(times["seal"], "median encryption time", "µs", "shortest", "longest"), _fastest(c)]
    meaning = [
        _budget(max(seal.values())),
        against_alone(c, seal, "encrypt", "sealing", "'AEAD operations alone', [pqcmav-paper] Table VI"),
    ]
    drawing = bars.grouped([bars.Panel(order, series, "Time per packet (µs)", "µs")], 340)
    blocks: list[Block] = [
        chart(c, "aead", drawing, says, meaning),
        table(c, "aead-relative", pd.DataFrame(columns)),
        published("aead-published"),
    ]
    return Section("aeads", title, blocks)
