# SPDX-License-Identifier: Apache-2.0
"""A page in Markdown: which published figures follow from others, and why the rest do not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pqc_mav_bench.analysis.published.source import DOCUMENTS, text_rows
from recomputed.formulas import FORMULAS, Check, checks


def _cell(text: object) -> str:
    """Text that stays in one cell of a Markdown table."""
    return str(text).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("\n", " ")


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows] + [""]


def _cited(documents: str) -> str:
    """The documents of a row, "a; b", as citations."""
    return ", ".join(f"[{key.strip()}]" for key in documents.split(";"))


def _number(check: Check) -> str:
    return "" if check.value is None else f"{check.value:.6g}"


def _listed_sections(text: str) -> list[str]:
    """The sections a contradiction names: "Trends 1, 3; Table 1" gives Trend 1, Trend 3 and Table 1."""
    single = re.sub(r"(Trend|Table)s (\w+), (\w+)", r"\1 \2; \1 \3", text)
    return [part.strip() for part in re.split(r";|,|/", single) if part.strip()]


def related(check: Check) -> list[str]:
    """Ids of the contradictions listed for this figure's document and for the section it is printed in."""
    printed_in = re.split(r" vs |;", check.section)[0].strip()
    names = {printed_in, printed_in.partition(" ")[2] or printed_in}
    return [
        row["id"]
        for row in text_rows("contradictions")
        if check.document in row["documents"]
        and any(f"{name} ".startswith(f"{listed} ") for name in names for listed in _listed_sections(row["sections"]))
    ]


def explanation(check: Check) -> str:
    """Why a figure is not what its formula gives: the check's own note and the contradictions listed for its
    sections."""
    reason = check.note or f"no value of the inputs within their rounding gives {check.published} {check.unit}"
    ids = related(check)
    return f"{reason}; see {', '.join(ids)}" if ids else reason


def render() -> str:
    """The page as Markdown."""
    everything = checks()
    disagreeing = [check for check in everything if check.verdict == "no"]
    counts = {verdict: sum(check.verdict == verdict for check in everything) for verdict in ("yes", "no", "n/a")}
    lines = [
        "# The published figures, recomputed",
        "",
        f"Five documents describe the published system. {len(everything)} of their figures follow from others or from",
        "a formula they print. The analysis functions of this package recompute each one:",
        f"{counts['yes']} agree within the rounding of what is printed, {counts['no']} do not, {counts['n/a']} are not",
        "printed as a number. `<` and `>` mark figures that the document prints as bounds. This page lists those that",
        f"do not follow; all {len(everything)} are in `{FORMULAS}.csv.gz` of the package `pqc_mav_bench`.",
        "",
        *_table(("document", "title", "yes", "no", "n/a"), _per_document(everything)),
        "## Figures that do not follow",
        "",
        *_table(
            ("doc.", "where", "formula", "inputs", "printed", "recomputed", "unit", "why"),
            [
                (
                    _cited(c.document),
                    c.section,
                    c.formula,
                    c.inputs,
                    f"{c.relation if c.relation != '=' else ''}{c.published}",
                    _number(c),
                    c.unit,
                    explanation(c),
                )
                for c in disagreeing
            ],
        ),
        "## Contradictions of the documents",
        "",
        *_table(
            ("id", "doc.", "where", "quantity or claim", "one value", "other value", "comment"),
            [
                (
                    r["id"],
                    _cited(r["documents"]),
                    r["sections"],
                    r["quantity_or_claim"],
                    r["value_1"],
                    r["value_2"],
                    r["comment"],
                )
                for r in text_rows("contradictions")
            ],
        ),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _per_document(everything: tuple[Check, ...]) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for document in DOCUMENTS:
        verdicts = [check.verdict for check in everything if check.document == document.key]
        rows.append((_cited(document.key), document.title, *(verdicts.count(v) for v in ("yes", "no", "n/a"))))
    return rows
