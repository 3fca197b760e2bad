# SPDX-License-Identifier: Apache-2.0
"""Handshakes over other links, where campaigns over them are kept beside this one: measured, not computed."""

from collections.abc import Mapping

import pandas as pd

from pqc_mav_bench.analysis.intervals import (
    COUNT,
    RANKED_FROM,
    RANKED_RUNS,
    is_ranked,
    tied_with_the_least,
)
from pqc_mav_bench.link_presets import LinkPreset
from pqc_mav_bench.report.blocks import MEASURED, Explanation, Table
from pqc_mav_bench.report.estimates import handshake_time
from pqc_mav_bench.report.numbers import MISSING, duration, listed
from pqc_mav_bench.report.report_input import ReportInput


def over_links(c: ReportInput) -> Table | None:
    """One row per suite, one column per link; None where none was measured."""
    if not c.links:
        return None
    by_link = {preset: one.baseline.dropna(subset=["handshake_ms"]).set_index("suite") for preset, one in c.links}
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
    words = listed([f"{preset.called}: {preset.words} each way" for preset, _ in c.links])
    explanation = Explanation(
        f"Handshakes of some suites with other links between the ends ({words}), under MAVLink: "
        f"{listed([f'{preset.messages_per_s:g} messages/s over {preset.called}' for preset, _ in c.links])}.",
        "In brackets the 95 % interval of the median. The links are emulated on one machine; a handshake is a renewal "
        "inside the running session, so it shares the link with the data.",
        [_shortest(preset.called, rows) for preset, rows in by_link.items() if len(rows)],
        [f"At least {fewest:.0f} handshakes of each suite over each link, in {_runs(by_link)}." if fewest else ""],
    )
    sources = tuple(source for _, one in c.links for source in one.sources)
    return Table("answer-links", "Measured over other links", frame, MEASURED, sources, explanation)


def _runs(by_link: Mapping[LinkPreset, pd.DataFrame]) -> str:
    fewest = min(int(rows["repetitions"].min()) for rows in by_link.values() if len(rows))
    return "one run each" if fewest == 1 else f"{fewest} runs or more each"


def _shortest(link: str, rows: pd.DataFrame) -> str:
    """Which suite's handshake is the shortest over a link, where runs enough tell."""
    if not is_ranked(rows).all():
        return (
            f"Over {link}, none is called the shortest: that takes {RANKED_RUNS} runs and {RANKED_FROM} "
            "handshakes of each, because one run does not tell how far runs differ."
        )
    best, *tied = tied_with_the_least(rows.reset_index())["suite"]
    took = duration(float(rows.loc[best, "handshake_ms"]))
    also = f"; not told apart from it: {listed(tied)}" if tied else "; no other one's interval reaches it"
    return f"Over {link}, {best} is the shortest at {took}{also}."
