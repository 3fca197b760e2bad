# SPDX-License-Identifier: Apache-2.0
"""HTML of the report's blocks."""

import re
from collections.abc import Iterable, Sequence
from html import escape

import pandas as pd

from pqc_mav_bench.report.background import background
from pqc_mav_bench.report.blocks import Block, Chart, Diagram, Explanation, Notice, Prose, Section, Source, Table
from pqc_mav_bench.report.figure import to_narrow_svg, to_svg
from pqc_mav_bench.report.numbers import MISSING, number

_PRINTED_NUMBER = re.compile(r"-?\d+(\.\d+)?")

_HASH = re.compile(r"[0-9a-f]{64}")
#: The short code of a suite, or a list that begins with one.
_CODE = re.compile(r"[A-Z]{2,3}-\d+A?-[A-Z]{2}-")
_KINDS = {"suite": " class=id", "hash": " class=hash", "code": " class=code"}

#: Width of the text's column [px]; wider tables reach into the margins of a screen that has them.
_PAGE_PX = 670

#: From this many rows on a table can be filtered.
FILTER_ROWS = 20


def cell(value: object, digits: int) -> tuple[str, str, bool]:
    """(text, sort key, is a number) of one table cell."""
    if value is None or value is pd.NA:
        return MISSING, "", False
    if isinstance(value, bool):
        return ("yes" if value else "no"), str(int(value)), False
    if isinstance(value, int):
        return f"{value:,}", str(value), True
    if isinstance(value, float):
        return number(value, digits), "" if value != value else repr(value), True
    text = str(value)
    if _PRINTED_NUMBER.fullmatch(text):
        return text, text, True
    return (text or MISSING), text, False


def _column(values: list[object], digits: int) -> list[tuple[str, str, bool]]:
    """The cells of a column; whole numbers throughout are counts or bytes and keep all their digits."""
    numbers = [float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool) and v == v]
    if numbers and all(v.is_integer() and abs(v) < 1e12 for v in numbers):
        values = [int(v) if isinstance(v, float) and v == v else v for v in values]
    return [cell(value, digits) for value in values]


def _kind(text: str) -> str:
    """What a text cell holds, where that decides how it may wrap."""
    if text.startswith("cs-"):
        return "suite"
    if _HASH.fullmatch(text):
        return "hash"
    return "code" if _CODE.match(text) else ""


def _least_width_px(frame: pd.DataFrame, columns: list[list[tuple[str, str, bool]]]) -> float:
    """About how narrow a table can be: the longest thing in each column that does not wrap, and the padding."""
    widths = []
    for name, column in zip(frame.columns, columns, strict=True):
        pieces = [
            piece
            for text, _, flush in column
            for piece in ([text] if flush or text.startswith("cs-") else re.split(r"[\s-]", text))
        ]
        head = max((len(word) for word in str(name).split()), default=1)
        widths.append(max(7.6 * head, 7.1 * max(map(len, pieces), default=1), 45) + 22)
    return sum(widths)


def table_html(frame: pd.DataFrame, key: str, caption: str, digits: int = 3) -> str:
    """A table in a container that scrolls on its own. Columns whose cells are numbers are set flush right."""
    columns = [_column(frame[name].tolist(), digits) for name in frame.columns]
    numeric = [2 * sum(c[2] for c in column) >= sum(c[0] != MISSING for c in column) for column in columns]
    head = "".join(
        f'<th scope="col"{" class=num" if flush else ""}>{escape(str(name))}</th>'
        for name, flush in zip(frame.columns, numeric, strict=True)
    )
    rows = []
    for i in range(len(frame)):
        cells = []
        for j, column in enumerate(columns):
            text, sort, _ = column[i]
            tag = "th scope=row" if j == 0 else "td"
            mark = " class=num" if numeric[j] else _KINDS.get(_kind(text), "")
            key_attribute = f' data-k="{escape(sort)}"' if numeric[j] and sort and sort != text else ""
            cells.append(f"<{tag}{mark}{key_attribute}>{escape(text)}</{'th' if j == 0 else 'td'}>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    wide = " wide" if _least_width_px(frame, columns) > _PAGE_PX else ""
    filterable = ' data-filter="1"' if len(frame) >= FILTER_ROWS else ""
    return (
        f'<div class="scroll{wide}" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table id="{key}"{filterable}><caption class="sr">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def sources_html(sources: Sequence[Source]) -> str:
    """The provenance line of a figure."""
    parts = [f'{escape(s.name)} <code title="SHA-256 {s.sha256}">{s.sha256[:12]}</code>' for s in sources]
    about = "".join(f"<br>{escape(text)}" for text in dict.fromkeys(s.about for s in sources if s.about))
    return f'<p class="source">Source: {"; ".join(parts)}{about}</p>' if parts else ""


def _paragraphs(title: str, sentences: Iterable[str]) -> str:
    items = [sentence for sentence in sentences if sentence]
    if not items:
        return ""
    lead = f"<b>{title}.</b> " if title else ""
    return f"<p>{lead}{' '.join(escape(sentence) for sentence in items)}</p>"


def explanation_html(explanation: Explanation | None, key: str = "") -> str:
    """The four parts of an explanation, and what is behind the figure `key`; parts without a sentence are left out."""
    if explanation is None:
        return ""
    parts = [
        _paragraphs("What it shows", [explanation.shows]),
        _paragraphs("How to read it", [explanation.read]),
        _paragraphs("What this run says", explanation.observations),
        _paragraphs("What it means", explanation.meaning),
        *(_paragraphs("Behind it" if i == 0 else "", [text]) for i, text in enumerate(background().get(key, ()))),
    ]
    return f'<div class="explain">{"".join(parts)}</div>'


def _heading(title: str, origin: str, above: str = "") -> str:
    """A block's heading; a title that stands above already is kept for screen readers only."""
    badge = f' <span class="badge">{escape(origin)}</span>' if origin else ""
    text = f'<span class="sr">{escape(title)}</span>' if title == above else escape(title)
    return f"<h3>{text}{badge}</h3>"


def _chart(block: Chart, above: str, printed: bool) -> str:
    svg = to_svg(block.drawing, block.title, block.description, block.key)
    small = "" if printed else to_narrow_svg(block.drawing, block.title, block.description, f"{block.key}-narrow")
    data = ""
    if block.data is not None and len(block.data):
        inner = table_html(block.data, f"{block.key}-data", f"{block.title}: the numbers")
        data = f"<details><summary>The numbers of this chart</summary>{inner}</details>"
    figure = (
        f'<div class="scroll chartbox" tabindex="0" role="region" aria-label="{escape(block.title)}">{svg}</div>'
        + (f'<div class="phone">{small}</div>' if small else "")
    )
    rest = explanation_html(block.explanation, block.key) + data + sources_html(block.sources)
    return f'<figure id="{block.key}">{_heading(block.title, block.origin, above)}{figure}{rest}</figure>'


def _table(block: Table, above: str) -> str:
    if block.frame.empty:
        raise ValueError(f"table {block.key} has no rows; say what is missing with a Notice")
    inner = table_html(block.frame, f"{block.key}-table", block.title, block.digits)
    if block.folded:
        inner = f"<details><summary>Show the table ({len(block.frame)} rows)</summary>{inner}</details>"
    rest = explanation_html(block.explanation, block.key) + sources_html(block.sources)
    folded = ' class="folded"' if block.folded and block.explanation is None else ""
    return f'<figure id="{block.key}"{folded}>{_heading(block.title, block.origin, above)}{inner}{rest}</figure>'


def block_html(block: Block, above: str = "", printed: bool = False) -> str:
    """One block under the section title `above`; `printed`: for paper, which is no phone."""
    if isinstance(block, Chart):
        return _chart(block, above, printed)
    if isinstance(block, Table):
        return _table(block, above)
    if isinstance(block, Diagram):
        box = (
            f'<div class="scroll chartbox" tabindex="0" role="region" '
            f'aria-label="{escape(block.title)}">{block.svg}</div>'
            '<p class="hint">Scroll sideways to see all of it.</p>'
        )
        return (
            f"<figure "
            f'id="{block.key}">{_heading(block.title, "", above)}{box}'
            f"{explanation_html(block.explanation, block.key)}</figure>"
        )
    if isinstance(block, Notice):
        return f'<p class="notice">{escape(block.text)}</p>'
    assert isinstance(block, Prose)
    return block.html


def section_html(section: Section, number: int, printed: bool = False) -> str:
    """One section with its blocks; `number` is its place in the report.

    Raises ValueError for one without content: nothing may be silently absent.
    """
    if not section.blocks:
        raise ValueError(f"section {section.key} has no content")
    blocks = "".join(block_html(block, section.title, printed) for block in section.blocks)
    heading = f'<h2><span class="place">{number}</span> {escape(section.title)}</h2>'
    return f'<section id="{section.anchor}">{heading}{blocks}</section>'
