# SPDX-License-Identifier: Apache-2.0
"""Signatures: signing and verification as the handshakes of the campaign timed them."""

import math

from pqc_mav_bench.analysis.estimate import Estimate
from pqc_mav_bench.analysis.table import has
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Block, Section
from pqc_mav_bench.report.charts import bars
from pqc_mav_bench.report.estimates import per_member
from pqc_mav_bench.report.numbers import duration, times
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import algorithm_table, medians, sig_order, with_values, without
from pqc_mav_bench.report.sections.figures import chart, table
from pqc_mav_bench.report.sections.published_tables import published

#: The families of signatures that rest on hashes alone, whose times dwarf those of lattices.
_OF_HASHES = ("SPHINCS+", "SLH-DSA")


def _hashes_against_lattices(found: dict[str, Estimate]) -> str:
    """How much longer every hash-based signature surely takes than every lattice signature; "" where intervals do not
    tell."""
    slow = [each for name, each in found.items() if name.startswith(_OF_HASHES)]
    quick = [each for name, each in found.items() if not name.startswith(_OF_HASHES)]
    if not slow or not quick or not all(each.has_interval for each in (*slow, *quick)):
        return ""
    low, high = min(each.low for each in slow), max(each.high for each in quick)
    if high <= 0 or low <= high:
        return ""
    families = " or ".join(family for family in _OF_HASHES if any(name.startswith(family) for name in found))
    return (
        f"Signing with any {families} variant ({duration(low)} or more) takes at least {times(low / high)} as long as "
        f"with any lattice signature ({duration(high)} at most)."
    )


_COLUMNS = {"sig_sign_ms": "Sign (ms)", "sig_verify_ms": "Verify (ms)", "signature_bytes": "Signature (B)"}


def signatures(c: ReportInput) -> Section:
    """Signatures, those of hashes apart."""
    title = "Signing and verification, hash-based signatures on their own scale"
    if not has(c.suites, "sig_sign_ms"):
        none = without(c, "signature times", "no handshake reported its primitives")
        return Section("signatures", title, [none, published("sig-published")])
    order = [name for name in sig_order(c.suites) if name in medians(c.suites, "sig", "sig_sign_ms")]
    rows = with_values(c, "sig_sign_ms")
    sign, verify = medians(rows, "sig", "sig_sign_ms"), medians(rows, "sig", "sig_verify_ms")
    panels = []
    for slow, axis in ((False, "Lattice signatures (ms)"), (True, "Hash-based signatures (ms)")):
        if names := [n for n in order if n.startswith(_OF_HASHES) == slow]:
            series = [
                bars.Series("Sign", [sign.get(n, math.nan) for n in names], palette.light("blue")),
                bars.Series("Verify", [verify.get(n, math.nan) for n in names], palette.light("orange"), "///"),
            ]
            panels.append(bars.Panel(names, series[: 2 if verify else 1], axis, "ms"))
    times_of = per_member(c, rows, "sig", "sig_sign_ms")
    says = [sentences.fastest_slowest(times_of, "median signing time"), _hashes_against_lattices(times_of)]
    drawing = bars.grouped(panels, 380, tilt=32, widths=[max(2, len(p.categories)) for p in panels])
    frame = algorithm_table(c, "sig", order, _COLUMNS).dropna(axis=1, how="all")
    blocks: list[Block] = [
        chart(c, "signatures", drawing, says),
        table(c, "signature-sizes", frame),
        published("sig-published"),
    ]
    return Section("signatures", title, blocks)
