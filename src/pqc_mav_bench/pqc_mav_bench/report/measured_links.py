# SPDX-License-Identifier: Apache-2.0
"""Handshakes over other links, where campaigns over them are kept beside this one: measured, not computed."""

from collections.abc import Mapping, Sequence

import pandas as pd

from pqc_mav_bench.analysis.intervals import (
    COUNT,
    NEEDED,
    is_ranked,
    tied_with_the_least,
)
from pqc_mav_bench.analysis.recommend import surely_quicker
from pqc_mav_bench.analysis.standards import standards_first
from pqc_mav_bench.link_presets import LinkPreset
from pqc_mav_bench.report.blocks import MEASURED, Explanation, Table
from pqc_mav_bench.report.estimates import handshake_time
from pqc_mav_bench.report.numbers import MISSING, duration, listed, number
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.sanity import BUSY_PERCENT


def over_links(c: ReportInput, *, more: bool = False) -> Table | None:
    """One row per suite, one column per link; None where none was measured. `more`: of `more_links`."""
    links = c.more_links if more else c.links
    if not links:
        return None
    by_link = {preset: one.baseline.dropna(subset=["handshake_ms"]).set_index("suite") for preset, one in links}
    suites = list(dict.fromkeys(name for rows in by_link.values() for name in rows.index))
    frame = pd.DataFrame(
        {
            "Suite": suites,
            **{
                preset.title: [handshake_time(rows.loc[name]) if name in rows.index else MISSING for name in suites]
                for preset, rows in by_link.items()
            },
        }
    )
    fewest = min((rows[COUNT].min() for rows in by_link.values() if len(rows)), default=0)
    words = listed([f"{preset.called}: {preset.words} each way" for preset, _ in links])
    explanation = Explanation(
        f"Handshakes of some suites with other links between the ends ({words}), under MAVLink: "
        f"{listed([f'{preset.messages_per_s:g} messages/s over {preset.called}' for preset, _ in links])}.",
        "In brackets the 95 % interval of the median. The links are emulated on one machine; a handshake is a renewal "
        "inside the running session, so it shares the link with the data.",
        [_shortest(preset.called, rows) for preset, rows in by_link.items() if len(rows)],
        [
            f"At least {fewest:.0f} handshakes of each suite over each link, in {_runs(by_link)}." if fewest else "",
            _beside([one for _, one in links]),
        ],
    )
    sources = tuple(source for _, one in links for source in one.sources)
    key, title = "answer-links", "Measured over other links"
    if more:
        key, title = f"{key}-more", f"{title}: the suites of today"
    return Table(key, title, frame, MEASURED, sources, explanation)


def _beside(campaigns: Sequence[ReportInput]) -> str:
    """How busy the machine was otherwise, where it was: then times compare within the table alone."""
    shares = pd.concat([one.raw["system_drone.foreign_cpu_percent"] for one in campaigns]).dropna()
    if not len(shares) or shares.median() <= BUSY_PERCENT:
        return ""
    return (
        f"Other work took {number(float(shares.median()))} % of the processor (median of the runs): the times are "
        "high, and compare with each other alone."
    )


def _runs(by_link: Mapping[LinkPreset, pd.DataFrame]) -> str:
    fewest = min(int(rows["repetitions"].min()) for rows in by_link.values() if len(rows))
    return "one run each" if fewest == 1 else f"{fewest} runs or more each"


def _shortest(link: str, rows: pd.DataFrame) -> str:
    """Which suite's handshake is the shortest over a link, where runs enough tell."""
    if not is_ranked(rows).all():
        return (
            f"Over {link}, none is called the shortest: that takes {NEEDED}, because one run does not tell how far "
            "runs differ."
        )
    known = rows.reset_index()
    chosen = standards_first(known)
    first = tied_with_the_least(chosen)
    best, *tied = first["suite"]
    took = duration(float(rows.loc[best, "handshake_ms"]))
    also = f"; not told apart from it: {listed(tied)}" if tied else "; no other one's interval among them reaches it"
    of_all = " of those made of standards" if len(chosen) < len(known) else ""
    quicker = surely_quicker(known, first.head(1))
    draft = f" Shorter, but no standard: {quicker}." if quicker else ""
    return f"Over {link}, {best} is the shortest{of_all} at {took}{also}.{draft}"
