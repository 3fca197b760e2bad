# SPDX-License-Identifier: Apache-2.0
"""Markdown tables for the generated pages."""

from collections.abc import Iterable, Sequence


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; a bar inside a cell is escaped."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in [titles, ["---"] * len(titles), *cells]]
