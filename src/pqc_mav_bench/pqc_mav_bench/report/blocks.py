# SPDX-License-Identifier: Apache-2.0
"""What a section of the report consists of: charts, tables, explanations and notices, each with its provenance."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import pandas as pd

from pqc_mav_bench.report.figure import Drawing

#: Where a figure's numbers come from; shown as a badge on it.
MEASURED = "measured in this campaign"
MIXED = "this campaign, with published figures marked"
PUBLISHED = "published figures, not this campaign"
MODELLED = "modelled, not measured by a sensor"
COMPUTED = "computed from measured sizes"
EMULATED = "this campaign, detector load emulated"


@dataclass(frozen=True)
class Explanation:
    """The text after a chart or table . Observations are sentences made from the data alone."""

    shows: str
    read: str
    observations: Sequence[str]
    meaning: Sequence[str] = ()


@dataclass(frozen=True)
class Source:
    """Where a figure comes from: a file and its SHA-256; `about` says how what is in it was measured."""

    name: str
    sha256: str
    about: str = ""


@dataclass(frozen=True)
class Chart:
    """A drawn figure with the data it shows. `data` becomes a table under the chart, for readers without eyes or
    mouse."""

    key: str
    title: str
    description: str
    drawing: Drawing
    origin: str
    sources: Sequence[Source]
    data: pd.DataFrame | None = None
    explanation: Explanation | None = None


@dataclass(frozen=True)
class Diagram:
    """A drawing made of boxes and arrows, as finished SVG."""

    key: str
    title: str
    svg: str
    explanation: Explanation | None = None


@dataclass(frozen=True)
class Table:
    """A table. Column names are its headings; numbers are formatted by `digits`, texts shown as they are."""

    key: str
    title: str
    frame: pd.DataFrame
    origin: str
    sources: Sequence[Source]
    explanation: Explanation | None = None
    digits: int = 3
    folded: bool = False


@dataclass(frozen=True)
class Notice:
    """A plain sentence about what is missing here and why."""

    text: str


@dataclass(frozen=True)
class Prose:
    """Finished HTML: the reading guide and the like."""

    html: str


def see(key: str, what: str, where: str) -> Prose:
    """One line in place of a figure that stands elsewhere on the page: nothing is drawn twice."""
    return Prose(f'<p class="see">{escape(what)}: <a href="#{key}">{escape(where)}</a>.</p>')


Block = Chart | Diagram | Table | Notice | Prose


@dataclass(frozen=True)
class Section:
    """One section of the report. `key` is its name: that of the function that makes it."""

    key: str
    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)

    @property
    def anchor(self) -> str:
        """The section's id on the page."""
        return f"section-{self.key.replace('_', '-')}"
