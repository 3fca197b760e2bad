# SPDX-License-Identifier: Apache-2.0
"""The index of explanations and the reading guide."""

from __future__ import annotations

from html import escape

from pqc_mav_bench.report.blocks import Chart, Prose, Section, Table
from pqc_mav_bench.report.numbers import count
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.shipped import asset


def explanations(others: list[Section]) -> Section:
    """Where every chart's explanation is, with its observations in one place."""
    charts = [b for s in others for b in s.blocks if isinstance(b, (Chart, Table)) and b.explanation is not None]
    entries = []
    for block in charts:
        assert block.explanation is not None
        told = " ".join(sentence for sentence in block.explanation.observations if sentence)
        if told:
            link = f'<a href="#{block.key}">{escape(block.title)}</a>'
            entries.append(f"<li>{link}: {escape(told)}</li>")
    intro = (
        f"<p>{count(len(charts), 'chart and table', 'charts and tables')} of this report are followed by what "
        f"they show, how to read them, what this run says and "
        "what it means. What the run says, in one place:</p>"
    )
    return Section("explanations", "Explanation of every chart", [Prose(f"{intro}<ul>{''.join(entries)}</ul>")])


def reading_guide(_: ReportInput) -> Section:
    """The reading guide."""
    title = "Reading guide: benchmarking, lifecycle, handshake, data plane, collectors, schema, validation, glossary"
    return Section("reading_guide", title, [Prose(asset("guide.html"))])
