"""Pages of docs/ that are made out of the engine's tables: written by one tool, compared by a test.

A page is a function that returns its whole text; `main` gives it the command line

    tools/run python tools/<page>.py           writes the page
    tools/run python tools/<page>.py --check   exit code 1, with the first difference, when the page on disk is another
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import unified_diff
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
SHOWN_LINES = 20


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table; a bar inside a cell is escaped."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in [titles, ["---"] * len(titles), *cells]]


def difference(page: Path, text: str) -> list[str]:
    """The first lines of the difference between the page on disk and `text`; empty when there is none."""
    present = page.read_text(encoding="utf-8") if page.is_file() else ""
    lines = unified_diff(
        present.splitlines(), text.splitlines(), f"{page.name} on disk", f"{page.name} as it should be"
    )
    return [line.rstrip("\n") for line in lines][:SHOWN_LINES]


def main(page: Path, text: Callable[[], str], arguments: Sequence[str] | None = None) -> int:
    """Writes or checks one page. Returns the exit code."""
    parser = argparse.ArgumentParser(description=f"Writes docs/{page.name} out of the engine's tables.")
    parser.add_argument("--check", action="store_true", help="only compare; exit code 1 when the page is out of date")
    wanted = text()
    if not parser.parse_args(arguments).check:
        page.write_text(wanted, encoding="utf-8")
        return 0
    differing = difference(page, wanted)
    if differing:
        print("\n".join(differing))
        print(f"error: docs/{page.name} is out of date; 'tools/run python {sys.argv[0]}' renews it", file=sys.stderr)
    return 1 if differing else 0
