# SPDX-License-Identifier: Apache-2.0
"""Which runs were begun out of the plan's order, and which were left out: said beside the results, not left to find."""

from dataclasses import astuple

import pandas as pd

from pqc_mav_bench.report.blocks import Explanation, Table
from pqc_mav_bench.report.numbers import count
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.figures import called
from pqc_mav_bench.schedule import Item

_RUN = ("scenario", "suite", "repetition")
_PLACE, _BEGUN, _REASON = "run_context.order_index", "run_context.started_at", "lifecycle.failure_reason"
# A run that fails is tried again at once. Only a resumed campaign goes back in its plan: to runs whose files it misses.
_AGAIN = "measured again when the campaign was resumed; the archive keeps neither the first measurement nor the reason"
_FAILED = "did not pass: left out of all figures"
_ONCE, _UNKEPT, _WHY = "made again", " (not kept)", ", for this reason: "


def irregular(c: ReportInput) -> pd.DataFrame:
    """A row for each run that was begun after one that the plan has behind it, or that did not pass, in the order in
    which they were begun; those without a file first."""
    names = c.runs.drop_duplicates("suite_id").set_index("suite_id")["suite"]
    # A campaign of before may have no times, or not of all runs: what failed is listed all the same.
    runs = c.raw.reindex(columns=[*_RUN, _PLACE, _BEGUN, "status", _REASON]).sort_values(_BEGUN, kind="stable")
    failed = runs["status"] == "failed"
    late = runs[_BEGUN].notna() & (runs[_PLACE] < runs[_PLACE].cummax())
    # One that the manifest lists tells itself why.
    known = {each.item for each in c.repeated}
    told = pd.Series([Item(*run) in known for run in runs[list(_RUN)].itertuples(index=False)], runs.index, dtype=bool)
    found = runs[failed | (late & ~told)]
    found = found.astype({_BEGUN: object, _REASON: object}).fillna({_PLACE: -1, _BEGUN: "", _REASON: ""})
    whys = [
        f"{_FAILED}{_WHY if reason else ''}{reason}" if bad else _AGAIN
        for bad, reason in zip(failed[found.index], found[_REASON], strict=True)
    ]
    columns = [found[name].tolist() for name in (*_RUN, _PLACE, _BEGUN)]
    rows = list(zip(*columns, whys, strict=True))
    rows += [(*astuple(item), -1, "", f"{_FAILED}{_WHY}{reason}{_UNKEPT}") for item, reason in c.lost]
    rows += [
        (*astuple(each.item), each.place, each.begun, f"{_ONCE}{_WHY}{each.reason}{'' if each.file else _UNKEPT}")
        for each in c.repeated
    ]
    return pd.DataFrame(
        [
            {
                "Scenario": called(scenario),
                "Suite": names.get(suite, suite),
                "Repetition": repetition,
                "Place in the plan": "-" if place < 0 else f"{place:.0f}",
                "Begun": str(begun)[:19].replace("T", " ") or "-",
                "Why it is here": why,
            }
            for scenario, suite, repetition, place, begun, why in sorted(rows, key=lambda row: str(row[4]))
        ]
    )


def irregular_sentence(c: ReportInput) -> str:
    """How many there are; "" where there is none and the data does not tell the order."""
    found = irregular(c)
    if found.empty:
        told = {_PLACE, _BEGUN, "status"} <= set(c.raw.columns) and c.raw[_BEGUN].notna().all()
        return "All runs were begun in the plan's order and passed." if told else ""
    late, failed = (int(found["Why it is here"].str.startswith(why).sum()) for why in (_AGAIN, _FAILED))
    again = len(found) - late - failed
    said = [
        f"{late} of {count(len(c.raw), 'run')} were begun after runs that the plan has behind them: measured again "
        "when the campaign was resumed, for a reason that the archive does not keep"
        if late
        else "",
        f"{count(failed, 'run')} did not pass and {'is' if failed == 1 else 'are'} left out of all figures"
        if failed
        else "",
        f"{count(again, 'measurement')} {'was' if again == 1 else 'were'} made again" if again else "",
    ]
    return f"{'; '.join(each for each in said if each)}. The table under Methods lists them."


def irregular_table(c: ReportInput) -> Table | None:
    """All of them; None without any."""
    frame = irregular(c)
    if frame.empty:
        return None
    explanation = Explanation(
        "Every run that was measured out of turn or left out, with the reason as far as the archive has one.",
        "The plan's order is drawn by lot, so that no suite is always measured early; a run out of turn had another "
        "neighbour and another hour.",
        [],
        [],
    )
    return Table("irregular", "Runs out of turn", frame, c.origin(), c.sources, explanation, folded=True)
