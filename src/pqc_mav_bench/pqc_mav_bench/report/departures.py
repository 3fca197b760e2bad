# SPDX-License-Identifier: Apache-2.0
"""Whether the campaign with detectors was recorded as the plan of its analysis says (docs/analysis-plan.md)."""

import pandas as pd

from pqc_mav_bench.report.numbers import count
from pqc_mav_bench.report.report_input import ReportInput

FIXED = "2026-12-01"
SCENARIOS = {"baseline", "xgboost", "tst"}
RUNS = 6  # of each pair of KEM and signature in each scenario
HANDSHAKES = 30  # in each run
DATA_S = 5.0  # in each run


def departures(c: ReportInput) -> list[str]:
    """In what it departs; empty if in nothing that the data tells."""
    raw = c.raw
    found = []
    begun = raw["run_context.started_at"].dropna().astype(str).min() if "run_context.started_at" in raw else None
    if isinstance(begun, str) and begun[:10] < FIXED:
        found.append(f"it was begun on {begun[:10]}")
    if left := SCENARIOS - {*c.passed["scenario"]}:
        found.append(f"there are no runs with {' and '.join(sorted(left))}")
    runs = c.passed[c.passed["scenario"].isin(SCENARIOS)].groupby(["scenario", "kem", "sig"]).size()
    if other := int((runs != RUNS).sum()):
        found.append(f"{other} of {len(runs)} pairs in a scenario have other than {RUNS} runs")
    for name, wanted, what in (
        ("handshake.handshakes", HANDSHAKES, f"other than {HANDSHAKES} handshakes"),
        ("run_context.run_duration_s", DATA_S, f"other than {DATA_S:g} s of data"),
    ):
        told = raw.get(name, pd.Series(dtype=float)).dropna()
        if differing := int((told != wanted).sum()):
            found.append(f"{count(differing, 'run')} had {what}")
    return found


def departures_sentence(c: ReportInput) -> str:
    """Said of a campaign with detectors alone; the plan is about no other."""
    if c.is_published or not SCENARIOS & {*c.scenarios} - {"baseline"} or c.emulated:
        return ""
    if found := departures(c):
        return f"It departs from the plan of its analysis, fixed on {FIXED}: {'; '.join(found)}."
    return f"It was recorded as the plan of its analysis says, which was fixed on {FIXED} before the first run."
