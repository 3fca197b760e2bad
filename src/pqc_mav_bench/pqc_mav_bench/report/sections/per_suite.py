# SPDX-License-Identifier: Apache-2.0
"""What the charts with one place per suite share: the order of suites, dots per scenario, published stand-ins."""

import pandas as pd

from pqc_mav_bench.analysis.table import FAMILIES, SCENARIO_NAMES, has, wide
from pqc_mav_bench.report import palette
from pqc_mav_bench.report.blocks import Block
from pqc_mav_bench.report.charts import points
from pqc_mav_bench.report.numbers import listed
from pqc_mav_bench.report.report_input import ReportInput, published_2025
from pqc_mav_bench.report.sections.common import without


def ordered_suites(suites: pd.DataFrame) -> pd.DataFrame:
    """Suites by family, then level, then name: the order of the per-suite charts."""
    rank = {family: i for i, family in enumerate(FAMILIES)}
    return (
        suites.assign(_f=suites["kem_family"].map(rank)).sort_values(["_f", "nist_level", "suite"]).drop(columns="_f")
    )


def either(c: ReportInput, *columns: str) -> tuple[ReportInput, list[Block]]:
    """The campaign, or the published one with a sentence where this one lacks a column."""
    if c.is_published or all(has(c.suites, column) for column in columns):
        return c, []
    lacking = listed([column.replace("_", " ") for column in columns if not has(c.suites, column)])
    return published_2025(), [
        without(c, f"values of {lacking}", "no collector reported any", "The published figures of October 2025 follow.")
    ]


def dots_per_suite(c: ReportInput, column: str, scenarios: list[str]) -> tuple[list[str], list[points.Points]]:
    """(labels of all suites, one group of dots per scenario whose x follows the labels) of a column's medians."""
    suites = ordered_suites(c.suites.drop_duplicates("suite"))
    grid = wide(c.suites, column).reindex(suites["suite"])
    groups = [
        points.Points(
            SCENARIO_NAMES.get(n, n), grid[n].tolist(), [], [], palette.scenario(n), palette.SCENARIO_MARKER.get(n, "o")
        )
        for n in scenarios
        if n in grid
    ]
    return suites["suite"].tolist(), groups
