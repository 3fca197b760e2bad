# SPDX-License-Identifier: Apache-2.0
"""Throughput and loss per suite, scenario, family and level, as [rpi4-analysis] charts them."""

import pandas as pd

from pqc_mav_bench.analysis.statistics import summarise, wilson
from pqc_mav_bench.analysis.table import has
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import Block, Notice, Section
from pqc_mav_bench.report.charts import bars, points, spread
from pqc_mav_bench.report.estimates import per_scenario, per_suite
from pqc_mav_bench.report.numbers import count, listed, number, quantity, span
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import (
    ALIKE,
    alike,
    families_of,
    family_legend,
    levels_of,
    scenario_note,
    spread_of,
    with_values,
    without,
)
from pqc_mav_bench.report.sections.figures import called, chart, table
from pqc_mav_bench.report.sections.per_suite import dots_per_suite, either, ordered_suites
from pqc_mav_bench.report.sections.replay_window import window_depth


def throughput(c: ReportInput) -> Section:
    """Throughput per suite."""
    use, blocks = either(c, "throughput_mbps")
    target = use.target_mbps
    line = None if target is None else (target, f"{target:g} Mb/s target")
    for i, name in enumerate(use.scenarios, 1):
        rows = ordered_suites(use.suites[use.suites["scenario"] == name].dropna(subset=["throughput_mbps"]))
        if len(rows):
            blocks.append(_of_scenario(use, name, i, rows, line))
    if len(use.scenarios) > 1:
        labels, groups = dots_per_suite(use, "throughput_mbps", use.scenarios)
        middles = per_scenario(use, "throughput_mbps")
        says = [sentences.extremes(middles, "median throughput", "Mb/s", "lowest", "highest")]
        drawing = points.per_suite(labels, groups, "Throughput (Mb/s)", "Mb/s", line)
        blocks.append(chart(use, "throughput-all", drawing, says, across=True))
    if line is None:
        slow = "the suites carried MAVLink telemetry, whose rate is far below 8 Mb/s, so no suite is at its limit"
        blocks.append(without(c, "constant-rate workload", slow))
    title = "Throughput per suite, each scenario and all side by side"
    return Section("throughput", title, [*blocks, *scenario_note(c)])


def _of_scenario(c: ReportInput, name: str, i: int, rows: pd.DataFrame, line: tuple[float, str] | None) -> Block:
    """Bars of every suite. Thirty equal ones say less than a sentence: that, and the figures in a folded table."""
    values, label, emulated = rows["throughput_mbps"], called(name), name in c.emulated
    if alike(values):
        offered = f" of {quantity(line[0], 'Mb/s')} offered" if line else ""
        every = count(len(rows), "suite")
        says = [f"Every one of {every} delivers {span(values.min(), values.max(), 'Mb/s')}{offered}."]
        frame = pd.DataFrame({"Suite": rows["suite"], "Throughput (Mb/s)": values})
        own = {"of": "throughput-alike", "label": label, "number": number(100 * ALIKE, 2)}
        return table(c, f"throughput-{name}", frame, says, across=emulated, digits=4, folded=True, **own)
    drawing = bars.ranked(
        rows["suite"].tolist(),
        values.tolist(),
        [palette.family(f) for f in rows["kem_family"]],
        family_legend(rows),
        "Throughput (Mb/s)",
        "Mb/s",
        log=False,
        line=line,
    )
    stats = summarise(values)
    scatter = f"Mean {quantity(stats.mean, 'Mb/s')}, standard deviation {quantity(stats.std, 'Mb/s')}."
    says = [
        sentences.extremes(per_suite(c, rows, "throughput_mbps"), "throughput", "Mb/s", "lowest", "highest"),
        scatter if stats.n > 1 and stats.std > 1e-3 * stats.mean else "",
    ]
    read = "Bars start at zero. The dashed line is the load that was offered." if line else "Bars start at zero."
    return chart(c, f"throughput-{i}", drawing, says, of="throughput-of", read=read, across=emulated, label=label)


def _no_loss(c: ReportInput) -> Notice | None:
    """The sentence for a campaign that lost nothing, whose chart would be empty; None where something was lost."""
    rows = c.passed.dropna(subset=["sent_packets", "received_packets"])
    sent = int(rows["sent_packets"].sum())
    if c.is_published or not sent or sent != int(rows["received_packets"].sum()):
        return None
    most = 100 * wilson(0, sent)[1]
    return Notice(
        f"No chart of losses: in {count(len(rows), 'run')} none of {sent:,} packets was lost. With 95 % confidence the "
        f"share that is lost is below {number(most, 2)} %."
    )


def _loss_block(c: ReportInput) -> Block:
    if (nothing := _no_loss(c)) is not None:
        return nothing
    groups = [
        spread.Group(called(n), rows["loss_percent"].tolist(), rows["suite"].tolist(), palette.scenario(n))
        for n in c.scenarios
        if len(rows := c.suites[c.suites["scenario"] == n])
    ]
    says = [
        sentences.loss(c.passed),
        sentences.extremes(per_scenario(c, "loss_percent"), "median loss", "%", "lowest", "highest"),
    ]
    drawing = spread.violins(spread.Panel(groups, "Packet loss (%)", "%"))
    return chart(c, "loss-violin", drawing, says, across=True)


_PANELS = (
    ("throughput_mbps", "Throughput (Mb/s)", "Mb/s", False),
    ("power_mean_w", "Power (W)", "W", False),
    ("handshake_ms", "Handshake (ms, log)", "ms", True),
    ("loss_percent", "Packet loss (%)", "%", False),
)


def _distribution(c: ReportInput, by: str) -> tuple[list[spread.Panel], list[str], list[str]]:
    """The panels, and what has none: for want of values, or because all suites have the same."""
    panels: list[spread.Panel] = []
    absent: list[str] = []
    equal: list[str] = []
    split = families_of if by == "KEM family" else levels_of
    for column, axis, unit, log in _PANELS:
        rows = with_values(c, column)
        if not has(rows, column):
            absent.append(axis.split(" (")[0].lower())
            continue
        groups = []
        for label, every in split(rows).items():
            part = every.dropna(subset=[column])
            colour = palette.family(label) if by == "KEM family" else palette.level(int(label.removeprefix("Level ")))
            if len(every):
                names = part["suite"].tolist()
                groups.append(spread.Group(label.replace("Classic-", ""), part[column].tolist(), names, colour))
        if alike(pd.Series([value for group in groups for value in group.values])):
            equal.append(axis.split(" (")[0].lower())
            continue
        modelled = column == "power_mean_w" and not c.power_is_measured
        panels.append(spread.Panel(groups, axis.replace("Power", "Power, modelled") if modelled else axis, unit, log))
    return panels, absent, equal


def loss(c: ReportInput) -> Section:
    """Loss violin, family panel, level panel."""
    loss_from, blocks = either(c, "loss_percent")
    blocks += [_loss_block(loss_from), *window_depth(loss_from)]
    for key, by in (("family-panel", "KEM family"), ("level-panel", "NIST level")):
        panels, absent, equal = _distribution(c, by)
        if not panels:
            blocks.append(without(c, f"differences by {by}", "all suites have the same figures"))
            continue
        groups = families_of(c.known) if by == "KEM family" else {}
        says = [_overlap(panels), spread_of(groups) if groups else ""]
        shows = (
            f"Distributions by {by} in {called(c.main_scenario)}"
            + (f"; no data for {listed(absent)}" if absent else "")
            + (f"; no panel for {listed(equal)}, which all suites have alike." if equal else ".")
        )
        drawing = spread.boxes(panels, 300 * -(-len(panels) // 2), min(2, len(panels)))
        blocks.append(chart(c, key, drawing, says, of="panels", shows=shows, by=by, count=count(len(panels), "panel")))
    return Section("loss", "Packet loss by scenario; distributions by KEM family and level", blocks)


def _overlap(panels: list[spread.Panel]) -> str:
    """In which panels the groups' boxes overlap, so that the grouping says little there."""
    apart: list[str] = []
    alike: list[str] = []
    for panel in panels:
        stats = [summarise(g.values) for g in panel.groups if summarise(g.values).n]
        if len(stats) < 2:
            continue
        low, high = max(s.q1 for s in stats), min(s.q3 for s in stats)
        same = number(min(s.median for s in stats)) == number(max(s.median for s in stats))
        (alike if low <= high or same else apart).append(panel.axis.split(" (")[0].split(",")[0].lower())
    text = (
        f"The groups' middle halves all overlap for {listed(alike)}: there the grouping says little." if alike else ""
    )
    return f"{text} They do not all overlap for {listed(apart)}.".strip() if apart else text
