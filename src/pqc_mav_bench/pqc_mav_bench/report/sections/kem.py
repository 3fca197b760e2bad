# SPDX-License-Identifier: Apache-2.0
"""KEMs: key generation, encapsulation and decapsulation as the handshakes of the campaign timed them."""

import math

import pandas as pd

from pqc_mav_bench.analysis.estimate import Estimate
from pqc_mav_bench.analysis.table import has
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import MIXED, PUBLISHED, Block, Section
from pqc_mav_bench.report.charts import bars
from pqc_mav_bench.report.estimates import per_member
from pqc_mav_bench.report.numbers import count
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import (
    against_alone,
    algorithm_table,
    kem_order,
    medians,
    published_values,
    scenario_note,
    scenario_series,
    with_values,
    without,
)
from pqc_mav_bench.report.sections.figures import chart, table
from pqc_mav_bench.report.sections.published_tables import published

_PI5 = "published, Raspberry Pi 5 ([rpi5-report])"
_FILE = "rpi5_kem_primitives_report"


def _times(c: ReportInput, column: str) -> dict[str, Estimate]:
    """An operation's median for each KEM, with its interval."""
    return per_member(c, with_values(c, column), "kem", column)


def kem_keygen(c: ReportInput) -> Section:
    """KEM key generation by scenario."""
    title, column = "KEM key generation, nine KEMs by scenario", "kem_keygen_ms"
    if not has(c.suites, column):
        return Section(
            "kem_keygen", title, [without(c, "key generation times", "no handshake reported its primitives")]
        )
    order = [name for name in kem_order(c.suites) if name in medians(c.suites, "kem", column)]
    series = scenario_series(c, "kem", order, column)
    printed = published_values(_FILE, "algorithm", "keygen_ms")
    reference = [printed.get(name, math.nan) for name in order]
    panel = bars.Panel(order, series, "Key generation (ms, log scale)", "ms", True, (_PI5, reference))
    base, mine = medians(with_values(c, column), "kem", column), _times(c, column)
    both = [name for name in base if name in printed and base[name] > 0]
    versus = (
        f"{sum(mine[name].high < printed[name] for name in both)} of the {count(len(both), 'KEM')} that the documents "
        "also time surely generate keys faster here: their interval ends below the published figure."
    )
    frame = pd.DataFrame({"KEM": order} | {s.label: list(s.values) for s in series} | {_PI5: reference})
    in_tunnel_us = {name: 1e3 * value for name, value in base.items()}
    alone = "'KEM operations alone', [pqcmav-paper] Table IV"
    says = [
        sentences.fastest_slowest(mine, "median key generation"),
        versus if both and all(mine[name].has_interval for name in both) else "",
    ]
    meaning = [
        "Key generation happens on the ground station for every handshake; the key pool can take it off the "
        "critical path.",
        against_alone(c, in_tunnel_us, "keygen", "key generation", alone),
    ]
    origin, drawing = PUBLISHED if c.is_published else MIXED, bars.grouped([panel], 420, tilt=32)
    drawn = chart(
        c,
        "keygen",
        drawing,
        says,
        meaning,
        data=frame,
        origin=origin,
        published=[_FILE],
        count=count(len(order), "KEM"),
    )
    return Section("kem_keygen", title, [drawn, *scenario_note(c)])


_OPERATIONS = {
    "kem_keygen_ms": "Keygen (ms)",
    "kem_encaps_ms": "Encaps (ms)",
    "kem_decaps_ms": "Decaps (ms)",
    "public_key_bytes": "Public key (B)",
    "ciphertext_bytes": "Ciphertext (B)",
}


def kem_operations(c: ReportInput) -> Section:
    """KEM medians and key sizes."""
    title = "KEM operations and public-key sizes"
    own: Block = without(c, "KEM operation times", "no handshake reported its primitives")
    if has(c.suites, "kem_keygen_ms"):
        frame = algorithm_table(c, "kem", kem_order(c.suites), _OPERATIONS).dropna(axis=1, how="all")
        sizes = {k: Estimate.exact(size) for k, size in medians(c.baseline, "kem", "public_key_bytes").items()}
        slow = "A large public key costs transfer time on a slow radio link even where the computation is fast."
        says = [
            sentences.fastest_slowest(_times(c, "kem_encaps_ms"), "median encapsulation"),
            sentences.extremes(sizes, "public key", "B", "smallest", "largest"),
        ]
        own = table(c, "kem-operations", frame, says, [slow] if sizes else [])
    return Section("kem_operations", title, [own, published("kem-published")])
