# SPDX-License-Identifier: Apache-2.0
"""The page around the sections: question, answer, summary, limits, methods and contents before, sources after."""

import re
from collections.abc import Sequence
from html import escape

from pqc_mav_bench.analysis.published.source import DOCUMENTS
from pqc_mav_bench.report import palette
from pqc_mav_bench.report.answer import answer, asked, shortly
from pqc_mav_bench.report.blocks import Section
from pqc_mav_bench.report.frame import environment, limitations, measured, methods, provenance, summary
from pqc_mav_bench.report.markup import block_html, section_html, table_html
from pqc_mav_bench.report.repeated import irregular_table
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.shipped import asset


def _style() -> str:
    light, dark = palette.css(False), palette.css(True)
    # Print is always on white paper, whatever the reader's screen prefers.
    rules = f":root{{color-scheme:light dark;{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return rules + asset("style.css")


def _contents(sections: Sequence[Section]) -> str:
    entries = "".join(
        f'<li><a href="#{s.anchor}"><span class="place">{number}</span> {escape(s.title)}</a></li>'
        for number, s in enumerate(sections, 1)
    )
    front = [
        ("asked", "What was asked, and how"),
        ("answer", "The answer"),
        ("use", "What to use when"),
        ("limitations", "Limits"),
        ("summary", "What else was found"),
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


_FOLDED = re.compile(r"<details><summary>(.*?)</summary>.*?</details>", re.S)


def render(
    c: ReportInput, sections: Sequence[Section], title: str, printed: bool = False, load: ReportInput | None = None
) -> str:
    """The whole page. `load`: the campaign of the load sections. `printed`: for paper, which has no folded tables: each
    is named, and stands in the page."""
    campaigns = [each for each in (c, load) if each is not None]
    short, again = shortly(c), irregular_table(c)
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in environment(c))
    body = "".join(section_html(section, number, printed) for number, section in enumerate(sections, 1))
    cited = "".join(f"<dt>[{d.key}]</dt><dd>{escape(d.title)}. {escape(d.about)}</dd>" for d in DOCUMENTS)
    files_table = table_html(provenance(c, sections), "provenance-table", "Files this report was made from")
    parts = [
        f"<header><h1>{escape(title)}</h1>",
        "</header><main>",
        _plain("asked", "What was asked, and how", _list(asked(c) + measured(c, campaigns))),
        _plain("answer", "The answer", block_html(short)) if short is not None else "",
        _plain("use", "What to use when", "".join(block_html(block, "What to use when") for block in answer(c))),
        _plain("limitations", "Limits", _list(limitations(c))),
        _plain("summary", "What else was found", _list(summary(c))),
        _plain("methods", "Methods", _list(methods(c)) + (block_html(again, "Methods") if again is not None else "")),
        _plain("environment", "Environment", f'<dl class="facts">{facts}</dl>'),
        _contents(sections),
        body,
        _plain("provenance", "Provenance", files_table),
        _plain("sources", "Sources", f'<dl class="facts">{cited}</dl>'),
        "</main><footer><p>Made by <code>pqcmav bench report</code> from the files listed under Provenance. "
        "Published figures are quoted from the documents listed under Sources.</p></footer>",
    ]
    html = "".join(parts)
    if printed:
        html = _FOLDED.sub(r'<p class="see">\1: in report.html.</p>', html)
    script = "" if printed else f"<script>{asset('script.js')}</script>"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_style()}</style></head><body>{html}{script}</body></html>\n"
    )
