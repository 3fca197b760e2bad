# SPDX-License-Identifier: Apache-2.0
"""The one shape of a section's charts and tables: what is drawn, where its numbers come from, and what it says."""

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import pandas as pd

from pqc_mav_bench.analysis.statistics import summarise
from pqc_mav_bench.analysis.table import FAMILIES, SCENARIO_NAMES
from pqc_mav_bench.report import palette
from pqc_mav_bench.report.blocks import Chart, Explanation, Table
from pqc_mav_bench.report.charts.points import Points
from pqc_mav_bench.report.figure import Drawing
from pqc_mav_bench.report.numbers import duration
from pqc_mav_bench.report.report_input import ReportInput, published_source
from pqc_mav_bench.report.shipped import asset

_TEXTS = ("title", "alt", "shows", "read", "meaning")


@cache
def _texts() -> dict[str, dict[str, str]]:
    """What assets/figures.csv says of each chart and table, by its key: title, text for those who do not see it, what
    it shows, how to read it, what it means. A name in braces is put in by the caller."""
    return {row["key"]: row for row in csv.DictReader(asset("figures.csv").splitlines())}


def _told(
    key: str, says: Sequence[str] | None, meaning: Sequence[str], own: Mapping[str, Any]
) -> tuple[str, str, Explanation | None]:
    """Title, alternative text and explanation. `own` texts go before those of the table, and into their braces."""
    row = _texts().get(key) or {"title": own["title"]}
    title, alt, shows, read, means = (own.get(name) or row.get(name, "").format(**own) for name in _TEXTS)
    explained = Explanation(shows, read, says or [], [means] if means else meaning) if shows else None
    return title, alt, explained


def chart(
    c: ReportInput,
    key: str,
    drawing: Drawing,
    says: Sequence[str],
    meaning: Sequence[str] = (),
    *,
    of: str = "",
    data: pd.DataFrame | None = None,
    across: bool = False,
    origin: str = "",
    published: Sequence[str] = (),
    **own: Any,
) -> Chart:
    """A chart of the campaign's numbers, with what they say. Its texts are those of `key`, or of `of`, in figures.csv.

    `across`: it compares scenarios; `published`: tables of the documents drawn with them; `origin` instead of the badge
    that follows from the campaign.
    """
    title, alt, explanation = _told(of or key, says, meaning, own)
    sources = [*c.sources, *published_source(*published)]
    return Chart(key, title, alt, drawing, origin or c.origin(across), sources, data, explanation)


def table(
    c: ReportInput,
    key: str,
    frame: pd.DataFrame,
    says: Sequence[str] = (),
    meaning: Sequence[str] = (),
    *,
    of: str = "",
    across: bool = False,
    origin: str = "",
    published: Sequence[str] = (),
    digits: int = 3,
    folded: bool = False,
    **own: Any,
) -> Table:
    """A table of the campaign's numbers; the arguments are those of `chart`."""
    title, _, explanation = _told(of or key, says, meaning, own)
    sources = [*c.sources, *published_source(*published)]
    return Table(key, title, frame, origin or c.origin(across), sources, explanation, digits, folded)


def called(scenario: str) -> str:
    """What readers call a scenario."""
    return SCENARIO_NAMES.get(scenario, scenario)


def families_in(rows: pd.DataFrame) -> list[str]:
    """The KEM families of some suites, in the usual order."""
    present = set(rows["kem_family"])
    return [family for family in FAMILIES if family in present]


def family_points(
    rows: pd.DataFrame,
    place: Callable[[int, pd.DataFrame], tuple[Sequence[float], Sequence[float]]],
    tip: Callable[[Any], str] = lambda row: f"{row.suite}: {duration(row.handshake_ms)}",
) -> list[Points]:
    """Dots of every suite, a colour and a shape for each KEM family; `place` gives x and y of the family's rows."""
    groups = []
    for i, family in enumerate(families_in(rows)):
        part = rows[rows["kem_family"] == family]
        x, y = place(i, part)
        tips = [tip(row) for row in part.itertuples()]
        groups.append(Points(family, x, y, tips, palette.family(family), palette.FAMILY_MARKER[family]))
    return groups


def groups_table(
    name: str,
    groups: Mapping[str, pd.DataFrame],
    columns: Mapping[str, str],
    ends: Mapping[str, str],
    counted: bool = True,
) -> pd.DataFrame:
    """One row per group that has suites: how many, and of each column the statistics asked for; a column's heading
    takes their names. Columns without any value are left out where suites are counted."""
    body = [
        [
            group,
            len(rows),
            *(getattr(s, which) for s in (summarise(rows[k]) for k in columns) for which in ends.values()),
        ]
        for group, rows in groups.items()
        if len(rows)
    ]
    headings = [heading.format(end) for heading in columns.values() for end in ends]
    frame = pd.DataFrame(body, columns=[name, "Suites", *headings])
    return frame.dropna(axis=1, how="all") if counted else frame.drop(columns="Suites")


def scenarios_table(c: ReportInput, columns: Mapping[str, str]) -> pd.DataFrame:
    """One row per scenario with the mean over its suites of each column, under its heading."""
    parts = {name: c.suites[c.suites["scenario"] == name] for name in c.scenarios}
    body = [[called(name), *(rows[column].mean() for column in columns)] for name, rows in parts.items()]
    return pd.DataFrame(body, columns=["Scenario", *columns.values()])
