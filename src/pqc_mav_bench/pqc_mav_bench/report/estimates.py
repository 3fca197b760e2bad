# SPDX-License-Identifier: Apache-2.0
"""The figures of a campaign that sentences compare, each with its interval; published ones as they were printed."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from pqc_mav_bench.analysis import estimate
from pqc_mav_bench.analysis.estimate import Estimate
from pqc_mav_bench.analysis.intervals import HIGH, LOW
from pqc_mav_bench.analysis.table import SCENARIO_NAMES, scenario
from pqc_mav_bench.report.numbers import duration
from pqc_mav_bench.report.report_input import ReportInput

#: Times that a campaign keeps of each handshake: analysis column -> column of the single handshakes, of the end that
#: runs the operation.
SAMPLES = {
    "handshake_ms": "handshake_ms",
    "kem_keygen_ms": "gcs_kem_keygen_ms",
    "kem_encaps_ms": "kem_encaps_ms",
    "kem_decaps_ms": "gcs_kem_decaps_ms",
    "sig_sign_ms": "gcs_sig_sign_ms",
    "sig_verify_ms": "sig_verify_ms",
}


def handshake_time(row: pd.Series, called: str = "") -> str:
    """A suite's median handshake and, in brackets, its interval where it has one; `called` stands before that."""
    text = duration(float(row["handshake_ms"]))
    if LOW not in row.index or not math.isfinite(row[LOW]):
        return text
    return f"{text} ({called}{duration(float(row[LOW]))} to {duration(float(row[HIGH]))})"


def has_samples(c: ReportInput, column: str) -> bool:
    """Whether the campaign keeps single values of a column."""
    return SAMPLES.get(column, "") in c.single.columns


def per_member(c: ReportInput, rows: pd.DataFrame, key: str, column: str) -> dict[str, Estimate]:
    """The median of a column for each member of `key` (an algorithm) over its suites in `rows`, which are of one
    scenario: from the single values where they are kept, from one figure a run where not."""
    return {
        str(name): _of_rows(c, part.dropna(subset=[column]), column)
        for name, part in rows.groupby(key)
        if part[column].notna().any()
    }


def _of_rows(c: ReportInput, rows: pd.DataFrame, column: str) -> Estimate:
    if c.is_published:
        return Estimate.exact(float(rows[column].median()))
    if not has_samples(c, column):
        return estimate.of_values(rows[column].tolist())
    mine = c.single[c.single["suite"].isin(rows["suite"]) & c.single["scenario"].isin(rows["scenario"])]
    runs = [part.tolist() for _, part in mine.groupby(["suite", "repetition"], sort=False)[SAMPLES[column]]]
    return estimate.of_runs(runs)


def per_group(c: ReportInput, rows: pd.DataFrame, key: str, column: str, order: Sequence[str]) -> dict[str, Estimate]:
    """The median of a column that has one figure a run, for each group of suites, over pairs of KEM and signature."""
    found = {name: over_pairs(c, rows[rows[key] == name], column) for name in order}
    return {name: each for name, each in found.items() if math.isfinite(each.value)}


def per_scenario(c: ReportInput, column: str) -> dict[str, Estimate]:
    """The median of a column that has one figure a run, for each scenario by its name."""
    found = {SCENARIO_NAMES.get(name, name): over_pairs(c, scenario(c.suites, name), column) for name in c.scenarios}
    return {name: each for name, each in found.items() if math.isfinite(each.value)}


def over_pairs(c: ReportInput, rows: pd.DataFrame, column: str) -> Estimate:
    """The median of a column that has one figure a run, over pairs of KEM and signature."""
    return Estimate.exact(float(rows[column].median())) if c.is_published else estimate.of_pairs(rows, column)


def per_suite(c: ReportInput, rows: pd.DataFrame, column: str) -> dict[str, Estimate]:
    """A column of each suite, of which one figure a run has no interval."""
    values: Mapping[str, float] = dict(zip(rows["suite"], rows[column].astype(float), strict=True))
    return {name: Estimate.exact(value) if c.is_published else Estimate(value) for name, value in values.items()}


def of_groups(groups: Mapping[str, pd.DataFrame], how: str = "median") -> dict[str, Estimate]:
    """A statistic of the handshakes of each group of suites."""
    return estimate.known({name: estimate.of_suites(rows, how) for name, rows in groups.items()})
