# SPDX-License-Identifier: Apache-2.0
"""KEMs: key generation, encapsulation and decapsulation as the handshakes of the campaign timed them."""

from __future__ import annotations

import math

import pandas as pd

from pqc_mav_bench.analysis.estimate import Estimate
from pqc_mav_bench.analysis.table import has
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import MIXED, PUBLISHED, Block, Chart, Explanation, Section, Table
from pqc_mav_bench.report.charts import bars
from pqc_mav_bench.report.estimates import per_member
from pqc_mav_bench.report.numbers import count
from pqc_mav_bench.report.report_input import ReportInput, published_source
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
from pqc_mav_bench.report.sections.published_tables import published_table

_PI5 = "published, Raspberry Pi 5 ([rpi5-report])"


def _times(c: ReportInput, column: str) -> dict[str, Estimate]:
    """An operation's median for each KEM, with its interval."""
    return per_member(c, with_values(c, column), "kem", column)


def kem_keygen(c: ReportInput) -> Section:
    """KEM key generation by scenario."""
    title = "KEM key generation, nine KEMs by scenario"
    if not has(c.suites, "kem_keygen_ms"):
        return Section(
            "kem_keygen", title, [without(c, "key generation times", "no handshake reported its primitives")]
        )
    order = [name for name in kem_order(c.suites) if name in medians(c.suites, "kem", "kem_keygen_ms")]
    series = scenario_series(c, "kem", order, "kem_keygen_ms")
    published = published_values("rpi5_kem_primitives_report", "algorithm", "keygen_ms")
    reference = [published.get(name, math.nan) for name in order]
    panel = bars.Panel(order, series, "Key generation (ms, log scale)", "ms", True, (_PI5, reference))
    base = medians(with_values(c, "kem_keygen_ms"), "kem", "kem_keygen_ms")
    ratios = {name: published[name] / base[name] for name in base if name in published and base[name] > 0}
    mine = _times(c, "kem_keygen_ms")
    faster = [name for name in ratios if mine[name].high < published[name]]
    versus = (
        f"{len(faster)} of the {count(len(ratios), 'KEM')} that the documents also time surely generate keys faster "
        "here: their interval ends below the published figure."
        if ratios and all(mine[name].has_interval for name in ratios)
        else ""
    )
    frame = pd.DataFrame({"KEM": order} | {s.label: list(s.values) for s in series} | {_PI5: reference})
    explanation = Explanation(
        "Median time to generate an ephemeral KEM key pair inside the handshakes, per KEM and scenario.",
        "The axis is logarithmic: each labelled grid line is ten times the one below. Diamonds are the published "
        "Raspberry Pi 5 "
        "figures; their machine differs, so compare the pattern rather than the height.",
        [sentences.fastest_slowest(_times(c, "kem_keygen_ms"), "median key generation"), versus],
        [
            "Key generation happens on the ground station for every handshake; the key pool can take it off the "
            "critical path.",
            against_alone(
                c,
                {name: 1e3 * value for name, value in base.items()},
                "keygen",
                "key generation",
                "'KEM operations alone', [pqcmav-paper] Table IV",
            ),
        ],
    )
    chart = Chart(
        "keygen",
        title,
        f"Bars of key generation time for {count(len(order), 'KEM')}, logarithmic axis.",
        bars.grouped([panel], 420, tilt=32),
        MIXED if not c.is_published else PUBLISHED,
        [*c.sources, *published_source("rpi5_kem_primitives_report")],
        frame,
        explanation,
    )
    return Section("kem_keygen", title, [chart, *scenario_note(c)])


def kem_operations(c: ReportInput) -> Section:
    """KEM medians and key sizes."""
    title = "KEM operations and public-key sizes"
    columns = {
        "kem_keygen_ms": "Keygen (ms)",
        "kem_encaps_ms": "Encaps (ms)",
        "kem_decaps_ms": "Decaps (ms)",
        "public_key_bytes": "Public key (B)",
        "ciphertext_bytes": "Ciphertext (B)",
    }
    blocks: list[Block] = []
    if has(c.suites, "kem_keygen_ms"):
        frame = algorithm_table(c, "kem", kem_order(c.suites), columns).dropna(axis=1, how="all")
        sizes = medians(c.baseline, "kem", "public_key_bytes")
        explanation = Explanation(
            "Median times of the three KEM operations inside the handshakes of the main scenario, and what "
            "crosses the link.",
            "The ground station generates keys and decapsulates, the drone encapsulates.",
            [
                sentences.fastest_slowest(_times(c, "kem_encaps_ms"), "median encapsulation"),
                sentences.extremes(
                    {name: Estimate.exact(size) for name, size in sizes.items()},
                    "public key",
                    "B",
                    "smallest",
                    "largest",
                ),
            ],
            ["A large public key costs transfer time on a slow radio link even where the computation is fast."]
            if sizes
            else [],
        )
        blocks.append(Table("kem-operations", title, frame, c.origin(), c.sources, explanation))
    else:
        blocks.append(without(c, "KEM operation times", "no handshake reported its primitives"))
    blocks.append(
        published_table(
            "kem-published",
            "KEM operations, published, [rpi5-report] section 6 (Raspberry Pi 5)",
            "rpi5_kem_primitives_report",
        )
    )
    return Section("kem_operations", title, blocks)
