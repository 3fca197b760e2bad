# SPDX-License-Identifier: Apache-2.0
"""Which runs were begun out of the plan's order, and which were left out: said beside the results, not left to find."""

import pandas as pd

from pqc_mav_bench.report.blocks import Explanation, Table
from pqc_mav_bench.report.numbers import count
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.figures import called

_PLACE, _BEGUN = "run_context.order_index", "run_context.started_at"
# A run that fails is tried again at once. Only a resumed campaign goes back in its plan: to runs whose files it misses.
_AGAIN = "measured again when the campaign was resumed; the archive keeps neither the first measurement nor the reason"
_FAILED = "did not pass: left out of all figures"


def irregular(c: ReportInput) -> pd.DataFrame:
    """A row for each run that was begun after one that the plan has behind it, or that did not pass, in the order in
    which they were begun."""
    if not {_PLACE, _BEGUN, "status"} <= set(c.raw.columns):
        return pd.DataFrame()
    names = c.runs.drop_duplicates("suite_id").set_index("suite_id")["suite"]
    runs = c.raw.sort_values(_BEGUN, kind="stable")
    late, failed = runs[_PLACE] < runs[_PLACE].cummax(), runs["status"] == "failed"
    found = runs[late | failed]
    return pd.DataFrame(
        {
            "Scenario": [called(name) for name in found["scenario"]],
            "Suite": [names.get(suite, suite) for suite in found["suite"]],
            "Repetition": found["repetition"].tolist(),
            "Place in the plan": [f"{place:.0f}" for place in found[_PLACE]],
            "Begun": [str(time)[:19].replace("T", " ") for time in found[_BEGUN]],
            "Why it is here": [_FAILED if bad else _AGAIN for bad in failed[found.index]],
        }
    )


def irregular_sentence(c: ReportInput) -> str:
    """How many there are; "" where the data does not tell."""
    if not {_PLACE, _BEGUN, "status"} <= set(c.raw.columns) or c.raw[_BEGUN].isna().any():
        return ""
    found = irregular(c)
    if found.empty:
        return "All runs were begun in the plan's order and passed."
    late = int((found["Why it is here"] == _AGAIN).sum())
    failed = len(found) - late
    said = [
        f"{late} of {count(len(c.raw), 'run')} were begun after runs that the plan has behind them: measured again "
        "when the campaign was resumed, for a reason that the archive does not keep"
        if late
        else "",
        f"{count(failed, 'run')} did not pass and {'is' if failed == 1 else 'are'} left out of all figures"
        if failed
        else "",
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
