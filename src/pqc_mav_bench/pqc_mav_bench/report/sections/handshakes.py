# SPDX-License-Identifier: Apache-2.0
"""Handshakes of all suites: ranking, statistics, spread, Pareto frontier."""

from __future__ import annotations

import pandas as pd

from pqc_mav_bench.analysis import pareto, rekey
from pqc_mav_bench.analysis.estimate import span_ratio
from pqc_mav_bench.analysis.intervals import (
    COUNT,
    HIGH,
    LOW,
    RANKED_FROM,
    is_ranked,
    tied_with_the_least,
    with_rank_ranges,
)
from pqc_mav_bench.analysis.statistics import Summary
from pqc_mav_bench.analysis.table import FAMILIES, LEVELS, rank
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Block, Chart, Explanation, Notice, Section, Table
from pqc_mav_bench.report.charts import bars, points, spread
from pqc_mav_bench.report.estimates import of_groups, per_group
from pqc_mav_bench.report.numbers import MISSING, count, duration, listed, number, times
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import (
    by_family,
    by_level,
    families_of,
    family_finding,
    family_legend,
    levels_of,
    spread_of,
    without,
)
from pqc_mav_bench.report.sections.published_tables import published_table


def known(c: ReportInput) -> pd.DataFrame:
    """The main scenario's suites that have a handshake time."""
    return c.baseline.dropna(subset=["handshake_ms"])


def handshake_ranking(c: ReportInput) -> Section:
    """All suites ranked."""
    suites = rank(known(c), "handshake_ms")
    if c.ranked and LOW in suites.columns:
        suites = with_rank_ranges(suites)
    title = f"{count(len(suites), 'suite')} {'ranked by' if c.ranked else 'by their'} handshake"
    labels = suites["suite"].tolist()
    tips = [
        f"{i}. {r.suite}: {duration(r.handshake_ms)}, level {r.nist_level}"
        for i, r in enumerate(suites.itertuples(), 1)
    ]
    drawing = bars.ranked(
        labels,
        suites["handshake_ms"].tolist(),
        [palette.family(f) for f in suites["kem_family"]],
        family_legend(suites),
        "Handshake (ms, log scale)",
        "ms",
        tips=tips,
        intervals=list(zip(suites[LOW], suites[HIGH], strict=True)) if LOW in suites.columns else (),
    )
    observations = [
        _ends_of_the_ranking(c, suites),
        sentences.below(suites, "handshake_ms", 20.0, "per handshake", "ms"),
        _faster_half(suites),
        _what_a_bar_is(c, suites),
    ]
    explanation = Explanation(
        "One bar per suite of the main scenario: the time from the first byte of the connection to installed keys.",
        "Shorter is better; the axis is logarithmic. Colour is the KEM family, the label names KEM, cipher and "
        "signature.",
        observations,
        [_alike(c)],
    )
    chart = Chart("ranking", title, f"Horizontal bars of {title}.", drawing, c.origin(), c.sources, None, explanation)
    every = Table(
        "ranking-all",
        "Ranking" if c.ranked else "Every suite, not ranked",
        ranking_frame(suites),
        c.origin(),
        c.sources,
        folded=True,
    )
    return Section("handshake_ranking", title, [chart, every])


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
            f"Fewer than {RANKED_FROM} handshakes of a suite are no ranking: the order is that of single "
            "figures, which another run may turn around."
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
    if c.ranked and LOW in suites.columns:
        least = int(suites[COUNT].min())
        return f"Each bar is the median of {least} handshakes or more; the line on it is its 95 % interval."
    return (
        f"Each bar is {'one handshake' if c.repetitions <= 1 else f'the median of up to {c.repetitions} handshakes'}."
    )


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
    title = "Handshake statistics by NIST level and KEM family"
    levels, families = by_level(known(c)), by_family(known(c))
    by = Explanation(
        "Number of suites, mean, median, 95th percentile and maximum of the suites' handshakes in each group.",
        "P95 interpolates between the two nearest suites; suites that failed are left out.",
        [
            spread_of(levels_of(known(c))),
            spread_of(families_of(known(c))),
            family_finding(known(c)),
        ],
    )
    blocks: list[Block] = [
        Table("by-level", "By NIST level", summary_frame(levels, "Level"), c.origin(), c.sources),
        Table("by-family", "By KEM family", summary_frame(families, "KEM family"), c.origin(), c.sources, by),
        published_table(
            "by-level-published", "By level, published, [rpi5-report] section 12", "rpi5_handshake_by_level_report"
        ),
        published_table(
            "by-family-published", "By family, published, [rpi5-report] section 12", "rpi5_handshake_by_family"
        ),
    ]
    return Section("handshake_statistics", title, blocks)


def _wide_within(suites: pd.DataFrame) -> str:
    """Whether levels of three suites or more surely hold fast and slow ones."""
    levels = {name: rows for name, rows in levels_of(suites).items() if len(rows) > 2}
    return sentences.wide_within(of_groups(levels, "min"), of_groups(levels, "max"))


def handshake_spread(c: ReportInput) -> Section:
    """Box plot by level."""
    title = "Spread of handshakes by NIST level"
    suites = known(c)
    groups = [
        spread.Group(f"Level {level}", rows["handshake_ms"].tolist(), rows["suite"].tolist(), palette.level(level))
        for level in LEVELS
        if len(rows := suites[suites["nist_level"] == level])
    ]
    drawing = spread.boxes([spread.Panel(groups, "Handshake (ms, log scale)", "ms", True)], 400)
    boxes = by_level(suites)
    observations = [
        " ".join(
            f"{name}: half of the suites lie between {duration(s.q1)} and {duration(s.q3)}."
            for name, s in boxes.items()
        ),
    ]
    explanation = Explanation(
        "How the suites of each level are distributed: the box is the middle half, the bar in it the median.",
        "Whiskers reach to the farthest suite within 1.5 box heights, rings are suites beyond. The axis is "
        "logarithmic.",
        observations,
        [_wide_within(suites)],
    )
    chart = Chart(
        "level-boxes",
        title,
        "Box plots of handshake time per NIST level.",
        drawing,
        c.origin(),
        c.sources,
        summary_frame(boxes, "Level"),
        explanation,
    )
    return Section("handshake_spread", title, [chart])


def _points(rows: pd.DataFrame, label: str, colour: str, marker: str) -> points.Points:
    tips = [f"{r.suite}: {duration(r.handshake_ms)}, level {r.nist_level}" for r in rows.itertuples()]
    return points.Points(
        label, rows["handshake_ms"].tolist(), [float(v) for v in rows["nist_level"]], tips, colour, marker
    )


def pareto_frame(rows: pd.DataFrame) -> pd.DataFrame:
    """Suites as the documents' Pareto table has them."""
    phi = [rekey.phi_percent(float(ms), 60) for ms in rows["handshake_ms"]]
    columns = [rows["suite"], rows["nist_level"], rows["handshake_ms"], rows["public_key_bytes"]]
    return pd.DataFrame(dict(zip(("Suite", "Level", "Handshake (ms)", "Public key (B)"), columns, strict=True))).assign(
        **{"Φ(60 s) (%)": phi}
    )


def pareto_frontier(c: ReportInput) -> Section:
    """Pareto frontier."""
    title = "Pareto frontier: security level against handshake"
    suites = known(c)
    published = published_table(
        "pareto-published", "Pareto table, published, [rpi5-report] section 15", "rpi5_pareto_report"
    )
    if not is_ranked(suites).any():
        return Section("pareto_frontier", title, [without_ranking(c, suites), published])
    front, fastest = pareto.frontier(suites), pareto.fastest_per_level(suites)
    groups = [
        _points(suites[suites["kem_family"] == family], family, palette.family(family), palette.FAMILY_MARKER[family])
        for family in FAMILIES
        if (suites["kem_family"] == family).any()
    ]
    drawing = points.frontier(
        groups,
        _points(front, "Pareto-optimal", "", "o"),
        _points(fastest, "fastest of its level", "", "s"),
        "Handshake (ms, log scale)",
        LEVELS,
    )
    dominated = fastest[~fastest["suite"].isin(front["suite"])]
    families = sorted(set(fastest["kem_family"]))
    observations = [
        f"The Pareto frontier holds {count(len(front), 'suite')}: {listed(front['suite'].tolist())}."
        + (" Suites whose intervals overlap are a tie, and all of them stay." if LOW in front.columns else ""),
        f"The fastest suites of the levels are "
        f"{listed([f'{r.suite} ({duration(r.handshake_ms)})' for r in fastest.itertuples()])}.",
        (
            f"{listed(dominated['suite'].tolist())} {'is' if len(dominated) == 1 else 'are'} the fastest of "
            f"{'its' if len(dominated) == 1 else 'their'} level, yet a suite of a higher level is faster still: by the "
            "definition that nothing else may be both faster and more secure, only the others are Pareto-optimal."
            if len(dominated)
            else "Here the fastest suites of the levels are also the Pareto frontier."
        ),
        f"All of them use {families[0]}, as published."
        if families == ["ML-KEM"]
        else f"In the documents all of them use ML-KEM; here they use {listed(families)}.",
    ]
    explanation = Explanation(
        "Every suite as a point. Squares mark the fastest suite of each level, which the documents call the frontier; "
        "circles the suites that no other suite beats in both level and time.",
        "Better is up and to the left. Families lie side by side within a level only so that they can be told apart.",
        observations,
        [
            f"Rekeying every minute with the slowest of these costs "
            f"{number(pareto_frame(fastest)['Φ(60 s) (%)'].max())} % of the time."
        ]
        if len(fastest)
        else [],
    )
    chart = Chart(
        "pareto",
        title,
        "Scatter plot of handshake time and NIST level.",
        drawing,
        c.origin(),
        c.sources,
        None,
        explanation,
    )
    blocks: list[Block] = [
        chart,
        Table("pareto-table", "The fastest suite of each level", pareto_frame(fastest), c.origin(), c.sources),
    ]
    return Section("pareto_frontier", title, [*blocks, published])


def without_ranking(c: ReportInput, suites: pd.DataFrame) -> Notice:
    """Why no suites are named as the fastest."""
    if not len(suites):
        return without(c, "handshake times", "no run passed")
    return without(
        c,
        "fastest suites",
        f"no suite has the {RANKED_FROM} handshakes that a comparison takes",
        f"'pqcmav bench run --handshakes {RANKED_FROM}' measures them.",
    )
