# SPDX-License-Identifier: Apache-2.0
"""The answer in five sentences a reader can act on: which suite, on which link, with which battery, how sure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from pqc_mav_bench.analysis import energy, recommend
from pqc_mav_bench.analysis.intervals import COUNT, HIGH, LOW, RUNS
from pqc_mav_bench.analysis.table import LEVELS, has
from pqc_mav_bench.report.detector_sentences import overall_effects
from pqc_mav_bench.report.link import LINKS
from pqc_mav_bench.report.numbers import count, duration, number, quantity, times
from pqc_mav_bench.report.report_input import ReportInput

Answer = tuple[str, str]  # the question in three words, the answer


def in_short(c: ReportInput, known: pd.DataFrame, choices: Sequence[recommend.Choice]) -> list[Answer]:
    """Question and answer, in the order a reader asks. `known`: suites with a handshake, `choices`: at least one."""
    rows = known.set_index("suite")
    found = [
        ("Which suite", _suite(rows, choices)),
        ("On which link", _link(c, known, rows, choices)),
        ("With which battery", _battery(c, known, choices)),
        ("With a detector", _detectors(c)),
        ("How sure", _certainty(c, rows, choices)),
    ]
    return [(asked, text) for asked, text in found if text]


def _suite(rows: pd.DataFrame, choices: Sequence[recommend.Choice]) -> str:
    first = choices[0]
    text = f"{_named(rows, first.suite)}: its handshake takes {_time(rows.loc[first.suite])} here"
    strong = next((choice for choice in choices if choice.level == max(LEVELS)), None)
    if strong is not None and strong.suite != first.suite:
        text += (
            f". Level {strong.level} costs hardly more: " if _near(first, strong) else f". For level {strong.level}: "
        )
        text += f"{_named(rows, strong.suite)}, {_time(rows.loc[strong.suite])}"
    return f"{text}. The cipher adds nothing to a handshake: take any."


def _near(first: recommend.Choice, other: recommend.Choice) -> bool:
    return other.handshake_ms < 2 * first.handshake_ms


def _named(rows: pd.DataFrame, suite: str) -> str:
    row = rows.loc[suite]
    return f"{suite} ({row['kem']} with {row['sig']}, NIST level {int(row['nist_level'])})"


def _time(row: pd.Series) -> str:
    text = duration(float(row["handshake_ms"]))
    if LOW not in row.index or not math.isfinite(row[LOW]):
        return text
    return f"{text} (95 % interval {duration(float(row[LOW]))} to {duration(float(row[HIGH]))})"


def _link(c: ReportInput, known: pd.DataFrame, rows: pd.DataFrame, choices: Sequence[recommend.Choice]) -> str:
    if not has(known, "handshake_bytes"):
        return ""
    size = float(rows.loc[choices[0].suite, "handshake_bytes"])
    reach = " and ".join(f"{number(link.seconds(size), 2)} s over {link.name}" for link in LINKS)
    least = known[known["nist_level"] == max(LEVELS)].nsmallest(1, "handshake_bytes")
    most = known.nlargest(1, "handshake_bytes").iloc[0]
    thin = LINKS[-1]
    text = (
        f"That one on any link: its {number(size, 4)} bytes need at least {reach}, while the old keys carry the data. "
    )
    if measured := _measured(c, choices[0].suite):
        text += f"Measured, under MAVLink: {measured}. "
    if len(least):
        row = least.iloc[0]
        text += (
            f"Where every byte counts, {row['kem']} with {row['sig']} is level {int(row['nist_level'])} in "
            f"{number(float(row['handshake_bytes']), 4)} bytes. "
        )
    return (
        f"{text}{most['kem']} is not for thin links: {duration(1e3 * thin.seconds(float(most['handshake_bytes'])))} "
        f"with {most['sig']} over {thin.name}."
    )


def _measured(c: ReportInput, suite: str) -> str:
    """What a suite's handshake took over other links, where that was measured."""
    found = [(preset, one.baseline[one.baseline["suite"] == suite]) for preset, one in c.links]
    return ", ".join(f"{_time(rows.iloc[0])} over the {preset.title}" for preset, rows in found if len(rows))


def _battery(c: ReportInput, known: pd.DataFrame, choices: Sequence[recommend.Choice]) -> str:
    power = float(c.baseline["power_mean_w"].mean()) if c.power_is_measured else energy.PUBLISHED_POWER_W
    share = energy_percent(power, choices[0].handshake_ms)
    worst = known.loc[known["handshake_ms"].idxmax()]
    return (
        f"Any: with a rekey a minute it takes {number(share, 2)} % of a flight's energy, and even the slowest suite of "
        f"all, {worst['suite']}, {number(energy_percent(power, float(worst['handshake_ms'])), 2)} %. A calculation, at "
        f"{quantity(power, 'W')} for 30 minutes{'' if c.power_is_measured else '; no power was measured here'}."
    )


def _detectors(c: ReportInput) -> str:
    """What a detector beside the tunnel changes; "" where none was measured."""
    if c.is_published:
        return ""
    found = overall_effects(c)
    if found and c.emulated:
        found.append("A documented load took the place of the detectors.")
    return " ".join(found)


def _certainty(c: ReportInput, rows: pd.DataFrame, choices: Sequence[recommend.Choice]) -> str:
    first = choices[0]
    row = rows.loc[first.suite]
    if LOW not in rows.columns or not math.isfinite(row[LOW]):
        return ""
    base = (
        f"Each suite has {int(row[COUNT])} handshakes, and each pair of KEM and signature "
        f"{count(int(row[RUNS]), 'run')}; intervals are over the runs. "
    )
    others = rows[(rows["nist_level"] == first.level) & (rows["kem_family"] != row["kem_family"])]
    if len(others):
        nearest = others.loc[others["handshake_ms"].idxmin()]
        surely = float(nearest[LOW]) / float(row[HIGH])
        base += (
            f"That {row['kem']} is faster than {nearest['kem']} is certain: by {times(surely)} even from interval to "
            "interval. "
            if surely > 1
            else f"{row['kem']} and {nearest['kem']} cannot be told apart. "
        )
    ties = len(first.tied)
    base += f"Within the level, {count(ties, 'suite')} cannot be told apart from it. " if ties else ""
    where = "one machine, over loopback" if _one_machine(c) else "these two machines"
    return (
        f"{base}All times are those of {where}: another processor shifts them, there was no radio, and power was not "
        "measured. Differences of ten times can be expected elsewhere, too; the order of ties cannot."
    )


def _one_machine(c: ReportInput) -> bool:
    return "same_host" in c.runs and bool((c.runs["same_host"].fillna(0).astype(float) == 1).any())


def energy_percent(power_w: float, handshake_ms: float) -> float:
    """Share of a flight's energy that a rekey a minute takes [%]."""
    budget = energy.rekey_budget(power_w, energy.PUBLISHED_FLIGHT_S, energy.PUBLISHED_INTERVAL_S, handshake_ms)
    return budget.share_percent
