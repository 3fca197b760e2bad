# SPDX-License-Identifier: Apache-2.0
"""Handshakes of all suites: ranking, statistics, spread, Pareto frontier."""

from typing import Any

import pandas as pd

from pqc_mav_bench.analysis import pareto, rekey
from pqc_mav_bench.analysis.estimate import span_ratio
from pqc_mav_bench.analysis.intervals import (
    COUNT,
    HIGH,
    LOW,
    MEASURES,
    NEEDED,
    RUNS,
    is_ranked,
    tied_with_the_least,
    with_rank_ranges,
)
from pqc_mav_bench.analysis.statistics import Summary
from pqc_mav_bench.analysis.table import FAMILIES, LEVELS, rank
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Block, Notice, Section
from pqc_mav_bench.report.charts import bars, points, spread
from pqc_mav_bench.report.estimates import of_groups, per_group
from pqc_mav_bench.report.numbers import MISSING, count, duration, listed, number, times
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import (
    families_of,
    family_finding,
    family_legend,
    levels_of,
    spread_of,
    summaries,
    without,
)
from pqc_mav_bench.report.sections.figures import chart, family_points, table
from pqc_mav_bench.report.sections.published_tables import published


def handshake_ranking(c: ReportInput) -> Section:
    """All suites ranked."""
    suites = rank(c.known, "handshake_ms")
    if c.ranked and LOW in suites.columns:
        suites = with_rank_ranges(suites)
    title = f"{count(len(suites), 'suite')} {'ranked by' if c.ranked else 'by their'} handshake"
    places = enumerate(suites.itertuples(), 1)
    drawing = bars.ranked(
        suites["suite"].tolist(),
        suites["handshake_ms"].tolist(),
        [palette.family(f) for f in suites["kem_family"]],
        family_legend(suites),
        "Handshake (ms, log scale)",
        "ms",
        tips=[f"{i}. {r.suite}: {duration(r.handshake_ms)}, level {r.nist_level}" for i, r in places],
        intervals=list(zip(suites[LOW], suites[HIGH], strict=True)) if LOW in suites.columns else (),
    )
    says = [
        _ends_of_the_ranking(c, suites),
        sentences.below(suites, "handshake_ms", 20.0, "per handshake", "ms"),
        _faster_half(suites),
        _what_a_bar_is(c, suites),
    ]
    drawn = chart(c, "ranking", drawing, says, [_alike(c)], title=title)
    heading = "Ranking" if c.ranked else "Every suite, not ranked"
    return Section(
        "handshake_ranking", title, [drawn, table(c, "ranking-all", ranking_frame(suites), title=heading, folded=True)]
    )


def ranking_frame(suites: pd.DataFrame) -> pd.DataFrame:
    """Every suite with its rank: a span where intervals overlap, none where its handshakes are too few."""
    if "rank_from" in suites.columns:
        ends = zip(suites["rank_from"], suites["rank_to"], strict=True)
        ranks = [str(low) if low == high else f"{low}–{high}" for low, high in ends]
    else:
        ranks = suites["rank"].astype(str).where(is_ranked(suites), MISSING).tolist()
    columns = {
        "Rank": ranks,
        "Suite": suites["suite"],
        "KEM family": suites["kem_family"],
        "Level": suites["nist_level"],
        "Handshake (ms)": suites["handshake_ms"],
    }
    if LOW in suites.columns:
        columns |= {"95 % from (ms)": suites[LOW], "to (ms)": suites[HIGH], "n": suites[COUNT]}
    else:
        columns |= {"n": suites["repetitions"]}
    return pd.DataFrame(columns)


def _faster_half(suites: pd.DataFrame) -> str:
    """The families of the suites that are surely among the faster half; "" where intervals place none there."""
    half = len(suites) // 2
    if "rank_to" in suites.columns:
        sure = suites[suites["rank_to"] <= half]
    else:  # as printed
        sure = suites.head(half) if LOW not in suites.columns else suites[:0]
    families = [f"{name} ({n})" for name, n in sure["kem_family"].value_counts().items()]
    surely = "surely " if "rank_to" in suites.columns else ""
    return f"The suites that are {surely}among the faster half use {listed(families)}." if families else ""


def _ends_of_the_ranking(c: ReportInput, suites: pd.DataFrame) -> str:
    """Fastest and slowest, as far as the intervals tell; nothing of suites with too few handshakes."""
    first, last = suites.iloc[0], suites.iloc[-1]
    if LOW not in suites.columns:
        return (
            f"The fastest is {first['suite']} with {duration(first['handshake_ms'])}, the slowest {last['suite']} with "
            f"{duration(last['handshake_ms'])}."
        )
    if not c.ranked:
        return (
            f"This is no ranking, which takes {NEEDED}: the order is that of single figures, which another run may "
            "turn around."
        )
    fastest = tied_with_the_least(suites)["suite"].tolist()
    slowest = suites.loc[suites[HIGH] >= last[LOW], "suite"].tolist()[::-1]
    return " ".join(
        [
            sentences.told_apart(fastest, f"the shortest handshake, {duration(first['handshake_ms'])}"),
            sentences.told_apart(slowest, f"the longest, {duration(last['handshake_ms'])}"),
        ]
    )


def _what_a_bar_is(c: ReportInput, suites: pd.DataFrame) -> str:
    if LOW not in suites.columns or not suites[COUNT].all():  # printed, or kept without single handshakes
        each = "one handshake" if c.repetitions <= 1 else f"the median of up to {c.repetitions} handshakes"
        return f"Each bar is {each}."
    if c.ranked:
        least = int(suites[COUNT].min())
        return f"Each bar is the median of {least} handshakes or more; the line on it is its 95 % interval."
    if suites[RUNS].max() > 1:
        return f"Each bar is the median over the runs of its KEM and signature, up to {suites[RUNS].max():.0f}."
    most = int(suites[COUNT].max())
    return f"Each bar is {'one handshake' if most == 1 else f'the median of up to {most} handshakes of one run'}."


#: A ratio of round trips up to which a difference is called hardly any.
_HARDLY = 1.5


def _alike(c: ReportInput) -> str:
    """Whether packets travel equally fast with every KEM family, judged by the intervals of the median round trips."""
    trips = c.baseline["rtt_p50_ms"].dropna()
    span = span_ratio(per_group(c, c.baseline, "kem_family", "rtt_p50_ms", FAMILIES))
    if len(trips) < 2 or not span.has_interval or span.high > _HARDLY:
        return ""
    return (
        f"Median round trips under traffic lie between {duration(trips.min())} and {duration(trips.max())} for "
        f"all suites, and those of the KEM families differ by at most {times(span.high)} by their 95 % intervals: once "
        "the keys are in place, the choice of family makes hardly any difference."
    )


def summary_frame(groups: dict[str, Summary], name: str) -> pd.DataFrame:
    """Group summaries as the documents print them."""
    rows = [[g, s.n, s.mean, s.median, s.p95, s.maximum] for g, s in groups.items()]
    return pd.DataFrame(rows, columns=[name, "n", "Mean (ms)", "Median (ms)", "P95 (ms)", "Max (ms)"])


def handshake_statistics(c: ReportInput) -> Section:
    """Statistics by level and family."""
    title, suites = "Handshake statistics by NIST level and KEM family", c.known
    says = [spread_of(levels_of(suites)), spread_of(families_of(suites)), family_finding(suites)]
    blocks: list[Block] = [
        table(c, "by-level", summary_frame(summaries(levels_of(suites)), "Level")),
        table(c, "by-family", summary_frame(summaries(families_of(suites)), "KEM family"), says),
        published("by-level-published"),
        published("by-family-published"),
    ]
    return Section("handshake_statistics", title, blocks)


def _wide_within(suites: pd.DataFrame) -> str:
    """Whether levels of three suites or more surely hold fast and slow ones."""
    levels = {name: rows for name, rows in levels_of(suites).items() if len(rows) > 2}
    return sentences.wide_within(of_groups(levels, "min"), of_groups(levels, "max"))


def handshake_spread(c: ReportInput) -> Section:
    """Box plot by level."""
    title, suites = "Spread of handshakes by NIST level", c.known
    groups = [
        spread.Group(f"Level {level}", rows["handshake_ms"].tolist(), rows["suite"].tolist(), palette.level(level))
        for level, rows in zip(LEVELS, levels_of(suites).values(), strict=True)
        if len(rows)
    ]
    drawing = spread.boxes([spread.Panel(groups, "Handshake (ms, log scale)", "ms", True)], 400)
    boxes = summaries(levels_of(suites))
    halves = [
        f"{name}: half of the suites lie between {duration(s.q1)} and {duration(s.q3)}." for name, s in boxes.items()
    ]
    data = summary_frame(boxes, "Level")
    return Section(
        "handshake_spread",
        title,
        [chart(c, "level-boxes", drawing, [" ".join(halves)], [_wide_within(suites)], data=data)],
    )


def _place(_: int, rows: pd.DataFrame) -> tuple[list[float], list[float]]:
    return rows["handshake_ms"].tolist(), [float(v) for v in rows["nist_level"]]


def _tip(row: Any) -> str:
    return f"{row.suite}: {duration(row.handshake_ms)}, level {row.nist_level}"


def pareto_frame(rows: pd.DataFrame) -> pd.DataFrame:
    """Suites as the documents' Pareto table has them."""
    shown = rows[["suite", "nist_level", "handshake_ms", "public_key_bytes"]]
    frame = shown.set_axis(["Suite", "Level", "Handshake (ms)", "Public key (B)"], axis=1)
    return frame.assign(**{"Φ(60 s) (%)": [rekey.phi_percent(float(ms), 60) for ms in rows["handshake_ms"]]})


def pareto_frontier(c: ReportInput) -> Section:
    """Pareto frontier."""
    title, suites = "Pareto frontier: security level against handshake", c.known
    if not is_ranked(suites).any():
        return Section("pareto_frontier", title, [without_ranking(c, suites), published("pareto-published")])
    front, fastest = pareto.frontier(suites), pareto.fastest_per_level(suites)
    optimal, quickest = (
        points.Points(label, *_place(0, rows), [_tip(r) for r in rows.itertuples()], "", marker)
        for label, rows, marker in (("Pareto-optimal", front, "o"), ("fastest of its level", fastest, "s"))
    )
    groups = family_points(suites, _place, _tip)
    drawing = points.frontier(groups, optimal, quickest, "Handshake (ms, log scale)", LEVELS)
    frame = pareto_frame(fastest)
    cost = f"Rekeying every minute with the slowest of these costs {number(frame['Φ(60 s) (%)'].max())} % of the time."
    blocks: list[Block] = [
        chart(c, "pareto", drawing, _of_the_frontier(front, fastest), [cost] if len(fastest) else []),
        table(c, "pareto-table", frame),
        published("pareto-published"),
    ]
    return Section("pareto_frontier", title, blocks)


def _of_the_frontier(front: pd.DataFrame, fastest: pd.DataFrame) -> list[str]:
    """Which suites are on the frontier, and how that compares with the documents."""
    beaten = fastest[~fastest["suite"].isin(front["suite"])]["suite"].tolist()
    families = sorted(set(fastest["kem_family"]))
    are, their = ("is", "its") if len(beaten) == 1 else ("are", "their")
    return [
        f"The Pareto frontier holds {count(len(front), 'suite')}: {listed(front['suite'].tolist())}."
        + (" Suites whose intervals overlap are a tie, and all of them stay." if LOW in front.columns else ""),
        f"The fastest suites of the levels are "
        f"{listed([f'{r.suite} ({duration(r.handshake_ms)})' for r in fastest.itertuples()])}.",
        f"{listed(beaten)} {are} the fastest of {their} level, yet a suite of a higher level is faster still: by the "
        "definition that nothing else may be both faster and more secure, only the others are Pareto-optimal."
        if beaten
        else "Here the fastest suites of the levels are also the Pareto frontier.",
        f"All of them use {families[0]}, as published."
        if families == ["ML-KEM"]
        else f"In the documents all of them use ML-KEM; here they use {listed(families)}.",
    ]


def without_ranking(c: ReportInput, suites: pd.DataFrame) -> Notice:
    """Why no suites are named as the fastest."""
    if not len(suites):
        return without(c, "handshake times", "no run passed")
    return without(c, "fastest suites", f"a comparison takes {NEEDED}, and no suite has them", MEASURES)
