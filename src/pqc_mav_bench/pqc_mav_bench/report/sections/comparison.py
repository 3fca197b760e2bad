# SPDX-License-Identifier: Apache-2.0
"""The campaign against the published figures, and against another campaign: ratios per suite, deviations flagged."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from pqc_mav_bench.analysis.compare import DEVIATION_FACTOR, Comparison, compare
from pqc_mav_bench.analysis.estimate import of_values
from pqc_mav_bench.analysis.published.campaigns import pi5_summary
from pqc_mav_bench.analysis.statistics import summarise
from pqc_mav_bench.analysis.table import FAMILIES, SCENARIO_NAMES
from pqc_mav_bench.report import palette
from pqc_mav_bench.report.blocks import MIXED, PUBLISHED, Block, Chart, Explanation, Section, Source, Table
from pqc_mav_bench.report.charts import bars
from pqc_mav_bench.report.numbers import MISSING, count, listed, number
from pqc_mav_bench.report.report_input import ReportInput, published_2025, published_source
from pqc_mav_bench.report.sections.common import (
    first_upper,
    kem_order,
    medians,
    published_values,
    sig_order,
    with_values,
    without,
)
from pqc_mav_bench.report.sections.handshakes import known

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
    label = [
        r.suite + ("" if r.scenario == "baseline" else f", {SCENARIO_NAMES.get(r.scenario, r.scenario)}")
        for r in rows.itertuples()
    ]
    remark = [(reasons.get(r.suite, "unexplained") if r.flagged else "") for r in rows.itertuples()]
    colours = [palette.light("vermillion" if r.flagged else "blue") for r in rows.itertuples()]
    drawing = bars.ranked(
        label, rows["ratio"].tolist(), colours, {}, f"Ratio of {what}: {names[0]} / {names[1]} (log scale)", ""
    )
    flagged = found.flagged
    unexplained = [s for s in flagged["suite"] if s not in reasons]
    observations = [
        f"The typical (median) ratio of {names[0]} to {names[1]} is {number(found.typical)}{_between(rows['ratio'])}.",
        f"{count(len(flagged), 'row')} deviate by more than a factor of {DEVIATION_FACTOR:.0f} from it and from "
        f"the spread of the others"
        + (
            f"; unexplained: {listed(sorted(set(unexplained)))}."
            if unexplained
            else "; the documents explain all of them."
            if len(flagged)
            else "."
        )
        if len(flagged)
        else f"No suite deviates from it by more than a factor of {DEVIATION_FACTOR:.0f} and beyond the spread of "
        f"the others.",
        f"{count(len(found.only_a), 'row')} only in {names[0]}, {count(len(found.only_b), 'row')} only in {names[1]}."
        if found.only_a or found.only_b
        else "",
    ]
    explanation = Explanation(
        f"For every suite that both have: {what} of {names[0]} over that of {names[1]}.",
        "A faster machine shifts all bars by the same factor. A suite that deviates from the others is red: the "
        "machine alone does not explain it.",
        observations,
    )
    frame = pd.DataFrame(
        {
            "Suite": rows["suite"],
            "Scenario": rows["scenario"],
            f"{first_upper(names[0])} ({unit})": rows["a"],
            f"{first_upper(names[1])} ({unit})": rows["b"],
            "Ratio": rows["ratio"],
            "Remark": [text or MISSING for text in remark],
        }
    )
    title = f"{first_upper(what)} per suite, {names[0]} over {names[1]}"
    return [
        Chart(key, title, f"Bars of the ratio of {what} per suite.", drawing, origin, sources, None, explanation),
        Table(f"{key}-rows", "Ratios", frame, origin, sources, folded=True),
    ]


def _between(ratios: pd.Series) -> str:
    """The 95 % interval of a median ratio over suites, where there are enough."""
    found = of_values(ratios.tolist())
    return f" (95 % interval {number(found.low)} to {number(found.high)})" if found.has_interval else ""


def _primitives(c: ReportInput) -> Block:
    """KEM and signature operations against [rpi5-report] sections 6 and 8."""
    body = []
    spec = (
        (
            "kem",
            kem_order(c.suites),
            "rpi5_kem_primitives_report",
            (("kem_keygen_ms", "keygen_ms"), ("kem_encaps_ms", "encaps_ms"), ("kem_decaps_ms", "decaps_ms")),
        ),
        (
            "sig",
            sig_order(c.suites),
            "rpi5_sig_primitives_report",
            (("sig_sign_ms", "sign_ms"), ("sig_verify_ms", "verify_ms")),
        ),
    )
    for key, order, file, pairs in spec:
        for column, printed in pairs:
            own, theirs = medians(with_values(c, column), key, column), published_values(file, "algorithm", printed)
            for name in order:
                if name in own and name in theirs:
                    body.append(
                        [
                            name,
                            printed.removesuffix("_ms"),
                            own[name],
                            theirs[name],
                            own[name] / theirs[name] if theirs[name] else math.nan,
                        ]
                    )
    if not body:
        return without(c, "primitive times to compare", "no algorithm is timed both here and in [rpi5-report]")
    frame = pd.DataFrame(body, columns=["Algorithm", "Operation", "This campaign (ms)", "Published (ms)", "Ratio"])
    middle = float(np.exp(np.log(frame["Ratio"].where(frame["Ratio"] > 0)).median()))
    explanation = Explanation(
        "Operations inside the handshakes here against those of [rpi5-report] (Raspberry Pi 5, key generation on "
        "its ground laptop).",
        "A ratio below one means faster here.",
        [f"Typical ratio {number(middle)}{_between(frame['Ratio'])} over {len(frame)} operations."],
    )
    return Table(
        "primitive-ratios",
        "Primitives against [rpi5-report]",
        frame,
        MIXED,
        [*c.sources, *published_source("rpi5_kem_primitives_report", "rpi5_sig_primitives_report")],
        explanation,
    )


def _families(c: ReportInput) -> Block:
    """Family medians against [rpi5-report] section 12."""
    theirs = pi5_summary("kem_family")
    body = []
    for family in FAMILIES:
        own = summarise(known(c).loc[known(c)["kem_family"] == family, "handshake_ms"])
        if own.n and family in theirs.index:
            median = float(theirs.at[family, "median_ms"])
            body.append([family, own.n, own.median, median, own.median / median])
    if not body:
        return without(c, "KEM family to compare", "none of them is in [rpi5-report]")
    frame = pd.DataFrame(
        body, columns=["KEM family", "Suites here", "Median here (ms)", "Published median (ms)", "Ratio"]
    )
    return Table(
        "family-ratios",
        "Family medians against [rpi5-report]",
        frame,
        MIXED,
        [*c.sources, *published_source("rpi5_handshake_by_family")],
    )


def _constant_load(c: ReportInput) -> bool:
    """Whether every run carried the constant load of October 2025."""
    return "workload" in c.runs and bool((c.runs["workload"] == "bulk").all())


def nearest(candidates: Sequence[ReportInput], paper: ReportInput) -> ReportInput:
    """The campaign that compares with the published one: under the same kind of load before another, then the one with
    more of its suites, then with more of its rows. More scenarios of fewer suites do not make up for another load."""

    def likeness(each: ReportInput) -> tuple[bool, int, int]:
        rows = compare(each.suites, paper.suites).rows
        return _constant_load(each) and bool(len(rows)), rows["suite"].nunique(), len(rows)

    return max(candidates, key=likeness)


def comparison(c: ReportInput, load: ReportInput | None = None) -> Section:
    """The comparison with the published figures, of the campaign whose load is that of 2025."""
    title = "Comparison with the published figures"
    paper = published_2025()
    blocks: list[Block] = []
    if c.is_published:
        blocks.append(without(c, "other figures to compare with", "it is the published campaign itself"))
        return Section("comparison", title, blocks)
    candidates = [c] if load is None else [c, load]
    ours = nearest(candidates, paper)
    for column, what, unit in (("handshake_ms", "handshake", "ms"), ("throughput_mbps", "throughput", "Mb/s")):
        # Throughput compares only where the same constant load was offered.
        found = compare(ours.suites, paper.suites, column)
        if len(found.rows) and (column == "handshake_ms" or _constant_load(ours)):
            sources = [*ours.sources, *paper.sources]
            key = f"published-{what}"
            blocks += ratio_blocks(found, what, unit, (ours.name, "October 2025"), key, sources, MIXED, KNOWN)
    if not blocks:
        reason, instead = "the core suites differ from those 30", "Family medians and primitives are compared below."
        blocks.append(without(c, "suite of the October 2025 campaign", reason, instead))
    return Section("comparison", title, [*blocks, _families(c), _primitives(c)])


def two_campaigns(a: ReportInput, b: ReportInput) -> list[Section]:
    """The sections of a comparison of two campaigns."""
    sections = []
    for column, what, unit in (
        ("handshake_ms", "handshake", "ms"),
        ("rekey_ms", "rekey window", "ms"),
        ("rtt_p50_ms", "median round trip", "ms"),
        ("cpu_mean_percent", "average CPU", "%"),
    ):
        found = compare(a.runs[a.runs["passed"]], b.runs[b.runs["passed"]], column)
        key = f"compare-{column.replace('_', '-')}"
        origin = PUBLISHED if a.is_published and b.is_published else MIXED if b.is_published else "two campaigns"
        names = (a.name, b.name)
        blocks: list[Block] = (
            ratio_blocks(
                found, what, unit, names, key, [*a.sources, *b.sources], origin, KNOWN if b.is_published else {}
            )
            if len(found.rows)
            else [without(a, f"{what} in common with {b.name}", "no suite and scenario has it in both")]
        )
        sections.append(Section(key, f"{first_upper(what)} per suite", blocks))
    return sections
