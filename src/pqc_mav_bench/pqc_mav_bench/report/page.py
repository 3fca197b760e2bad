# SPDX-License-Identifier: Apache-2.0
"""The page around the sections: question, answer, summary, limits, methods and contents before, sources after."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pqc_mav_bench.analysis.published.source import DOCUMENTS
from pqc_mav_bench.report import palette
from pqc_mav_bench.report.answer import answer, asked
from pqc_mav_bench.report.blocks import Section
from pqc_mav_bench.report.frame import environment, limitations, methods, provenance, summary
from pqc_mav_bench.report.markup import block_html, section_html, table_html
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.shipped import asset


def _style(open_all: bool) -> str:
    light, dark = palette.css(False), palette.css(True)
    # Print is always on white paper, whatever the reader's screen prefers.
    rules = f":root{{color-scheme:light dark;{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return rules + asset("style.css") + ("details>summary{display:none}" if open_all else "")


def _contents(sections: Sequence[Section]) -> str:
    entries = "".join(
        f'<li><a href="#{s.anchor}"><span class="place">{number}</span> {escape(s.title)}</a></li>'
        for number, s in enumerate(sections, 1)
    )
    front = [
        ("asked", "What was asked"),
        ("answer", "The answer"),
        ("summary", "Summary"),
        ("limitations", "Limitations"),
        ("methods", "Methods"),
        ("environment", "Environment"),
        ("provenance", "Provenance"),
        ("sources", "Sources"),
    ]
    links = "".join(f'<li><a href="#{key}">{name}</a></li>' for key, name in front)
    return f'<nav aria-label="Contents"><h2 id="contents">Contents</h2><ul>{links}</ul><ol>{entries}</ol></nav>'


def _plain(key: str, title: str, body: str) -> str:
    return f'<section id="{key}"><h2>{escape(title)}</h2>{body}</section>'


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def render(c: ReportInput, sections: Sequence[Section], title: str, open_all: bool = False) -> str:
    """The whole page. `open_all` unfolds every folded table, as paper needs it."""
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in environment(c))
    body = "".join(section_html(section, number) for number, section in enumerate(sections, 1))
    cited = "".join(f"<dt>[{d.key}]</dt><dd>{escape(d.title)}. {escape(d.about)}</dd>" for d in DOCUMENTS)
    files_table = table_html(provenance(c, sections), "provenance-table", "Files this report was made from")
    parts = [
        f"<header><h1>{escape(title)}</h1>",
        "".join(f'<p class="lead">{escape(line)}</p>' for line in summary(c)[:1]),
        "</header><main>",
        _plain("asked", "What was asked", _list(asked(c))),
        _plain("answer", "The answer", "".join(block_html(block) for block in answer(c))),
        _plain("summary", "Summary", _list(summary(c)[1:])),
        _plain("limitations", "Limitations", _list(limitations(c))),
        _plain("methods", "Methods", _list(methods(c))),
        _plain("environment", "Environment", f'<dl class="facts">{facts}</dl>'),
        _contents(sections),
        body,
        _plain("provenance", "Provenance", files_table),
        _plain("sources", "Sources", f'<dl class="facts">{cited}</dl>'),
        "</main><footer><p>Made by <code>pqc_mav_bench.report</code> from the files listed under Provenance. "
        "Published figures are quoted from the documents listed under Sources.</p></footer>",
    ]
    html = "".join(parts)
    if open_all:
        html = html.replace("<details>", "<details open>")
    script = "" if open_all else f"<script>{asset('script.js')}</script>"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_style(open_all)}</style></head><body>{html}{script}</body></html>\n"
    )
