# SPDX-License-Identifier: Apache-2.0
"""Signatures: signing and verification as the handshakes of the campaign timed them."""

from __future__ import annotations

import math

from pqc_mav_bench.analysis.estimate import Estimate
from pqc_mav_bench.analysis.table import has
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Block, Chart, Explanation, Section, Table
from pqc_mav_bench.report.charts import bars
from pqc_mav_bench.report.estimates import per_member
from pqc_mav_bench.report.numbers import duration, times
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import (
    algorithm_table,
    medians,
    sig_order,
    with_values,
    without,
)
from pqc_mav_bench.report.sections.published_tables import published_table


def _sphincs_against_lattices(found: dict[str, Estimate]) -> str:
    """How much longer every SPHINCS+ variant surely takes than every lattice signature; "" where intervals do not
    tell."""
    slow = [each for name, each in found.items() if name.startswith("SPHINCS")]
    quick = [each for name, each in found.items() if not name.startswith("SPHINCS")]
    if not slow or not quick or not all(each.has_interval for each in (*slow, *quick)):
        return ""
    low, high = min(each.low for each in slow), max(each.high for each in quick)
    if high <= 0 or low <= high:
        return ""
    return (
        f"Signing with any SPHINCS+ variant ({duration(low)} or more) takes at least {times(low / high)} as long as "
        f"with any lattice signature ({duration(high)} at most)."
    )


def signatures(c: ReportInput) -> Section:
    """Signatures, SPHINCS+ apart."""
    title = "Signing and verification, SPHINCS+ on its own scale"
    if not has(c.suites, "sig_sign_ms"):
        blocks: list[Block] = [without(c, "signature times", "no handshake reported its primitives")]
    else:
        order = [name for name in sig_order(c.suites) if name in medians(c.suites, "sig", "sig_sign_ms")]
        rows = with_values(c, "sig_sign_ms")
        sign, verify = medians(rows, "sig", "sig_sign_ms"), medians(rows, "sig", "sig_verify_ms")
        panels = []
        for names, axis in (
            ([n for n in order if not n.startswith("SPHINCS")], "Lattice signatures (ms)"),
            ([n for n in order if n.startswith("SPHINCS")], "SPHINCS+ (ms)"),
        ):
            if names:
                series = [
                    bars.Series("Sign", [sign.get(n, math.nan) for n in names], palette.light("blue")),
                    bars.Series("Verify", [verify.get(n, math.nan) for n in names], palette.light("orange"), "///"),
                ][: 2 if verify else 1]
                panels.append(bars.Panel(names, series, axis, "ms"))
        times_of = per_member(c, rows, "sig", "sig_sign_ms")
        compare = _sphincs_against_lattices(times_of)
        frame = algorithm_table(
            c,
            "sig",
            order,
            {"sig_sign_ms": "Sign (ms)", "sig_verify_ms": "Verify (ms)", "signature_bytes": "Signature (B)"},
        ).dropna(axis=1, how="all")
        explanation = Explanation(
            "Median time to sign and to verify the handshake, per signature algorithm, in the main scenario.",
            "Two scales: the right panel is for SPHINCS+ alone, whose bars would dwarf all others.",
            [sentences.fastest_slowest(times_of, "median signing time"), compare],
            ["The ground station signs, the drone verifies: the drone pays for verification only."],
        )
        chart = Chart(
            "signatures",
            title,
            "Bars of signing and verification time per signature algorithm in two panels.",
            bars.grouped(panels, 380, tilt=32, widths=[max(2, len(p.categories)) for p in panels]),
            c.origin(),
            c.sources,
            None,
            explanation,
        )
        blocks = [chart, Table("signature-sizes", "Signature times and sizes", frame, c.origin(), c.sources)]
    blocks.append(
        published_table(
            "sig-published",
            "Signatures, published, [rpi5-report] section 8 (Raspberry Pi 5)",
            "rpi5_sig_primitives_report",
        )
    )
    return Section("signatures", title, blocks)
