# SPDX-License-Identifier: Apache-2.0
"""The campaign against the published figures, and against another campaign: ratios per suite, deviations flagged."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from pqc_mav_bench.analysis.compare import DEVIATION_FACTOR, Comparison, compare
from pqc_mav_bench.analysis.estimate import of_values
from pqc_mav_bench.analysis.published.campaigns import pi5_summary
from pqc_mav_bench.analysis.reliability import TARGET_MBPS
from pqc_mav_bench.report import palette
from pqc_mav_bench.report.blocks import MIXED, PUBLISHED, Block, Chart, Explanation, Section, Source, Table
from pqc_mav_bench.report.charts import bars
from pqc_mav_bench.report.numbers import MISSING, count, listed, number
from pqc_mav_bench.report.report_input import ReportInput, published_2025
from pqc_mav_bench.report.sections.common import (
    families_of,
    first_upper,
    kem_order,
    medians,
    published_values,
    sig_order,
    summaries,
    with_values,
    without,
)
from pqc_mav_bench.report.sections.figures import called, table

#: Deviations from the 2025 figures that the documents themselves explain.
KNOWN = {"ML-512-AG-MD-44": "published 521.9 ms contradicts 14.29 ms in [endurance-paper] and [rpi4-results] (X89)"}


def ratio_blocks(
    found: Comparison,
    what: str,
    unit: str,
    names: tuple[str, str],
    key: str,
    sources: list[Source],
    origin: str,
    reasons: dict[str, str],
) -> list[Block]:
    """Chart and table of one comparison; flagged suites carry their reason, or the word 'unexplained'."""
    rows = found.rows.sort_values("ratio", kind="stable")
    label = [r.suite + ("" if r.scenario == "baseline" else f", {called(r.scenario)}") for r in rows.itertuples()]
    remark = [(reasons.get(r.suite, "unexplained") if r.flagged else MISSING) for r in rows.itertuples()]
    colours = [palette.light("vermillion" if flagged else "blue") for flagged in rows["flagged"]]
    axis = f"Ratio of {what}: {names[0]} / {names[1]} (log scale)"
    drawing = bars.ranked(label, rows["ratio"].tolist(), colours, {}, axis, "")
    explanation = Explanation(
        f"For every suite that both have: {what} of {names[0]} over that of {names[1]}.",
        "A faster machine shifts all bars by the same factor. A suite that deviates from the others is red: the "
        "machine alone does not explain it.",
        [
            f"The typical (median) ratio of {names[0]} to {names[1]} is {number(found.typical)}"
            f"{_between(rows['ratio'])}.",
            _deviations(found, reasons),
            f"{count(len(found.only_a), 'row')} only in {names[0]}, "
            f"{count(len(found.only_b), 'row')} only in {names[1]}."
            if found.only_a or found.only_b
            else "",
        ],
    )
    frame = pd.DataFrame(
        {
            "Suite": rows["suite"],
            "Scenario": rows["scenario"],
            f"{first_upper(names[0])} ({unit})": rows["a"],
            f"{first_upper(names[1])} ({unit})": rows["b"],
            "Ratio": rows["ratio"],
            "Remark": remark,
        }
    )
    title = f"{first_upper(what)} per suite, {names[0]} over {names[1]}"
    return [
        Chart(key, title, f"Bars of the ratio of {what} per suite.", drawing, origin, sources, None, explanation),
        Table(f"{key}-rows", "Ratios", frame, origin, sources, folded=True),
    ]


def _deviations(found: Comparison, reasons: dict[str, str]) -> str:
    """How many suites deviate from the typical ratio, and which of them for no known reason."""
    flagged, factor = found.flagged, f"{DEVIATION_FACTOR:.0f}"
    if not len(flagged):
        return f"No suite deviates from it by more than a factor of {factor} and beyond the spread of the others."
    unexplained = sorted({s for s in flagged["suite"] if s not in reasons})
    return (
        f"{count(len(flagged), 'row')} deviate by more than a factor of {factor} from it and from the spread of the "
        f"others; {f'unexplained: {listed(unexplained)}' if unexplained else 'the documents explain all of them'}."
    )


def _between(ratios: pd.Series) -> str:
    """The 95 % interval of a median ratio over suites, where there are enough."""
    found = of_values(ratios.tolist())
    return f" (95 % interval {number(found.low)} to {number(found.high)})" if found.has_interval else ""


_OPERATIONS = {
    "kem": ("rpi5_kem_primitives_report", ("kem_keygen_ms", "kem_encaps_ms", "kem_decaps_ms")),
    "sig": ("rpi5_sig_primitives_report", ("sig_sign_ms", "sig_verify_ms")),
}


def _primitives(c: ReportInput) -> Block:
    """KEM and signature operations against [rpi5-report] sections 6 and 8."""
    body = []
    for key, (file, columns) in _OPERATIONS.items():
        order = (kem_order if key == "kem" else sig_order)(c.suites)
        for column in columns:
            printed = column.removeprefix(f"{key}_")
            own, theirs = medians(with_values(c, column), key, column), published_values(file, "algorithm", printed)
            for name in order:
                if name in own and name in theirs:
                    ratio = own[name] / theirs[name] if theirs[name] else math.nan
                    body.append([name, printed.removesuffix("_ms"), own[name], theirs[name], ratio])
    if not body:
        return without(c, "primitive times to compare", "no algorithm is timed both here and in [rpi5-report]")
    frame = pd.DataFrame(body, columns=["Algorithm", "Operation", "This campaign (ms)", "Published (ms)", "Ratio"])
    middle = float(np.exp(np.log(frame["Ratio"].where(frame["Ratio"] > 0)).median()))
    says = [f"Typical ratio {number(middle)}{_between(frame['Ratio'])} over {len(frame)} operations."]
    files = [file for file, _ in _OPERATIONS.values()]
    return table(c, "primitive-ratios", frame, says, origin=MIXED, published=files)


def _families(c: ReportInput) -> Block:
    """Family medians against [rpi5-report] section 12."""
    theirs = pi5_summary("kem_family")["median_ms"]
    body = [
        [family, own.n, own.median, float(theirs[family]), own.median / float(theirs[family])]
        for family, own in summaries(families_of(c.known)).items()
        if family in theirs.index
    ]
    if not body:
        return without(c, "KEM family to compare", "none of them is in [rpi5-report]")
    headings = ["KEM family", "Suites here", "Median here (ms)", "Published median (ms)", "Ratio"]
    frame = pd.DataFrame(body, columns=headings)
    return table(c, "family-ratios", frame, origin=MIXED, published=["rpi5_handshake_by_family"])


def _constant_load(c: ReportInput) -> bool:
    """Whether every run carried the constant load of October 2025."""
    return c.target_mbps == TARGET_MBPS and bool((c.runs["workload"] == "bulk").all())


def nearest(candidates: Sequence[ReportInput], paper: ReportInput) -> ReportInput:
    """The campaign that compares with the published one: under the same kind of load before another, then the one with
    more of its suites, then with more of its rows. More scenarios of fewer suites do not make up for another load."""

    def likeness(each: ReportInput) -> tuple[bool, int, int]:
        rows = compare(each.suites, paper.suites).rows
        return _constant_load(each) and bool(len(rows)), rows["suite"].nunique(), len(rows)

    return max(candidates, key=likeness)


def comparison(c: ReportInput, load: ReportInput | None = None) -> Section:
    """The comparison with the published figures, of the campaign whose load is that of 2025."""
    title, paper = "Comparison with the published figures", published_2025()
    if c.is_published:
        none = without(c, "other figures to compare with", "it is the published campaign itself")
        return Section("comparison", title, [none])
    blocks: list[Block] = []
    ours = nearest([c] if load is None else [c, load], paper)
    for column, what, unit in (("handshake_ms", "handshake", "ms"), ("throughput_mbps", "throughput", "Mb/s")):
        # Throughput compares only where the same constant load was offered.
        found = compare(ours.suites, paper.suites, column)
        if len(found.rows) and (column == "handshake_ms" or _constant_load(ours)):
            sources, names = [*ours.sources, *paper.sources], (ours.name, "October 2025")
            blocks += ratio_blocks(found, what, unit, names, f"published-{what}", sources, MIXED, KNOWN)
    if not blocks:
        reason, instead = "the core suites differ from those 30", "Family medians and primitives are compared below."
        blocks.append(without(c, "suite of the October 2025 campaign", reason, instead))
    return Section("comparison", title, [*blocks, _families(c), _primitives(c)])


_COMPARED = (
    ("handshake_ms", "handshake", "ms"),
    ("rekey_ms", "rekey window", "ms"),
    ("rtt_p50_ms", "median round trip", "ms"),
    ("cpu_mean_percent", "average CPU", "%"),
)


def two_campaigns(a: ReportInput, b: ReportInput) -> list[Section]:
    """The sections of a comparison of two campaigns."""
    printed = a.is_published + b.is_published
    origin, sources = ("two campaigns", MIXED, PUBLISHED)[printed], [*a.sources, *b.sources]
    sections = []
    for column, what, unit in _COMPARED:
        found = compare(a.passed, b.passed, column)
        key = f"compare-{column.replace('_', '-')}"
        blocks: list[Block] = [without(a, f"{what} in common with {b.name}", "no suite and scenario has it in both")]
        if len(found.rows):
            blocks = ratio_blocks(found, what, unit, (a.name, b.name), key, sources, origin, KNOWN if printed else {})
        sections.append(Section(key, f"{first_upper(what)} per suite", blocks))
    return sections
