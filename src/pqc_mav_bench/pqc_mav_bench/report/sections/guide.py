# SPDX-License-Identifier: Apache-2.0
"""The index of explanations and the reading guide."""

from html import escape

from pqc_mav_bench.report.blocks import Chart, Prose, Section, Table
from pqc_mav_bench.report.numbers import count
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.shipped import asset


def explanations(others: list[Section]) -> Section:
    """Where every chart's explanation is."""
    charts = [b for s in others for b in s.blocks if isinstance(b, (Chart, Table)) and b.explanation is not None]
    entries = [f'<li><a href="#{block.key}">{escape(block.title)}</a></li>' for block in charts]
    intro = (
        f"<p>{count(len(charts), 'chart and table', 'charts and tables')} of this report are followed by what "
        "they show, how to read them, what this run says and what it means:</p>"
    )
    index = f'{intro}<ul class="index">{"".join(entries)}</ul>'
    return Section("explanations", "Index of explanations", [Prose(index)])


def reading_guide(_: ReportInput) -> Section:
    """The reading guide."""
    title = "Reading guide: benchmarking, lifecycle, handshake, data plane, collectors, schema, validation, glossary"
    return Section("reading_guide", title, [Prose(asset("guide.html"))])
