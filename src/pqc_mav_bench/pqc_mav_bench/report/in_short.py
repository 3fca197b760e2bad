# SPDX-License-Identifier: Apache-2.0
"""The answer in five sentences a reader can act on: which suite, on which link, with which battery, how sure."""

import math
from collections.abc import Sequence

import pandas as pd

from pqc_mav_bench.analysis import energy, recommend
from pqc_mav_bench.analysis.detector_effect import cipher_effects
from pqc_mav_bench.analysis.estimate import Estimate, of_suites
from pqc_mav_bench.analysis.intervals import COUNT, HIGH, LOW, RUNS
from pqc_mav_bench.analysis.published import source
from pqc_mav_bench.analysis.standards import is_standard, standards_first
from pqc_mav_bench.analysis.table import LEVELS, has, scenario
from pqc_mav_bench.report.detector_sentences import overall_effects
from pqc_mav_bench.report.estimates import handshake_time
from pqc_mav_bench.report.link import LINKS
from pqc_mav_bench.report.numbers import count, duration, listed, number, quantity, times
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sentences import ratio_text

#: A share of a flight's energy below which the battery is no reason to choose [%].
NEGLIGIBLE_PERCENT = 1.0
PRINTED_BUDGET = "rpi5_energy_budget_report"

Answer = tuple[str, str]  # the question in three words, the answer


def in_short(c: ReportInput, known: pd.DataFrame, choices: Sequence[recommend.Choice]) -> list[Answer]:
    """Question and answer, in the order a reader asks. `known`: suites with a handshake, `choices`: at least one."""
    rows = known.set_index("suite")
    found = [
        ("Which suite", _suite(c, rows, choices)),
        ("On which link", _link(c, known, rows, choices)),
        ("With which battery", _battery(c, known, choices)),
        ("With a detector", _detectors(c)),
        ("How sure", _certainty(c, rows, choices)),
    ]
    return [(asked, text) for asked, text in found if text]


def _suite(c: ReportInput, rows: pd.DataFrame, choices: Sequence[recommend.Choice]) -> str:
    first = choices[0]
    text = f"{_named(rows, first.suite)}: its handshake takes {_time(rows.loc[first.suite])} here"
    strong = next((choice for choice in choices if choice.level == max(LEVELS)), None)
    if strong is not None and strong.suite != first.suite:
        text += f". For level {strong.level}: {_named(rows, strong.suite)}, {_time(rows.loc[strong.suite])}"
        text += _against(of_suites(rows.loc[[first.suite]]), of_suites(rows.loc[[strong.suite]]))
        text += _more_bytes(rows.loc[first.suite], rows.loc[strong.suite])
    drafts = dict.fromkeys(choice.quicker for choice in choices if choice.quicker)
    shorter = [f"Shorter, but no published standard: {listed(list(drafts))}."] if drafts else []
    return " ".join([f"{text}.", *shorter, *_cipher(c)])


def _against(first: Estimate, other: Estimate) -> str:
    """How another suite's handshake compares with the first one's, by their intervals; "" without them."""
    if not (first.has_interval and other.has_interval and first.low > 0):
        return ""
    if first.below(other):
        return f": {number(other.low / first.high)} to {number(other.high / first.low)} times as long by the intervals"
    return ", which is shorter" if other.below(first) else ", which cannot be told apart from it"


def _more_bytes(first: pd.Series, strong: pd.Series) -> str:
    """What speaks against the higher level, if not the time."""
    more = float(strong["handshake_bytes"] - first["handshake_bytes"])
    if not (more > 0 and LOW in first.index and strong[LOW] <= first[HIGH]):
        return ""
    return f"; it has {number(more, 4)} bytes more, and on a link that bears them nothing measured here speaks for less"


def _cipher(c: ReportInput) -> list[str]:
    """What the choice of cipher does to a handshake, each pair of KEM and signature against itself with AES."""
    found = cipher_effects(scenario(c.passed, c.main_scenario))
    if c.is_published or not found:
        return []
    apart = [each for each in found if each.told_apart]
    said = [
        f"With {each.scenario} handshakes take {ratio_text(each.ratio)} times as long as with AES-256-GCM (95 % "
        f"interval {ratio_text(each.low)} to {ratio_text(each.high)}, over {each.pairs} pairs)."
        for each in apart
    ]
    same = [each for each in found if not each.told_apart]
    if same:
        low, high = min(each.low for each in same), max(each.high for each in same)
        said.append(
            f"Handshakes with {listed([each.scenario for each in same])} cannot be told apart from those with "
            f"AES-256-GCM (95 % intervals within {number(low, 3)} to {number(high, 3)} times)"
            f"{': take any cipher' if not apart else ''}."
        )
    return said


def _named(rows: pd.DataFrame, suite: str) -> str:
    row = rows.loc[suite]
    return f"{suite} ({row['kem']} with {row['sig']}, NIST level {int(row['nist_level'])})"


def _time(row: pd.Series) -> str:
    return handshake_time(row, "95 % interval ")


def _link(c: ReportInput, known: pd.DataFrame, rows: pd.DataFrame, choices: Sequence[recommend.Choice]) -> str:
    if not has(known, "handshake_bytes"):
        return ""
    size = float(rows.loc[choices[0].suite, "handshake_bytes"])
    reach = " and ".join(f"{number(link.seconds(size), 2)} s over {link.name}" for link in LINKS)
    least = standards_first(known[known["nist_level"] == max(LEVELS)]).nsmallest(1, "handshake_bytes")
    most = known.nlargest(1, "handshake_bytes").iloc[0]
    thin = LINKS[-1]
    text = f"Its {number(size, 4)} bytes need at least {reach}, while the old keys carry the data. "
    if measured := _measured(c, choices[0].suite):
        text += f"Measured, under MAVLink: {measured}. {_shorter(c, choices[0].suite)}"
    if len(least):
        row = least.iloc[0]
        text += (
            f"If every byte counts, {row['kem']} with {row['sig']} is level {int(row['nist_level'])} in "
            f"{number(float(row['handshake_bytes']), 4)} bytes. "
        )
    longest = thin.seconds(float(most["handshake_bytes"]))
    verdict = f"The most has {most['kem']}"
    if longest > energy.PUBLISHED_INTERVAL_S:
        verdict = f"{most['kem']} is not for thin links"
    return f"{text}{verdict}: {duration(1e3 * longest)} with {most['sig']} over {thin.name}."


def _shorter(c: ReportInput, suite: str) -> str:
    """Over which measured links others are surely shorter, of each level the shortest; "" over none."""
    said = []
    for preset, one in c.links:
        rows = one.baseline.dropna(subset=["handshake_ms"]).set_index("suite")
        if suite not in rows.index:
            continue
        rows = rows.assign(standard=is_standard(rows))
        shortest = rows.loc[rows.groupby(["nist_level", "standard"])["handshake_ms"].idxmin()]
        surely = shortest[shortest[HIGH] < rows.loc[suite, LOW]]
        names = [
            f"{name} (level {row['nist_level']:.0f}, {duration(row['handshake_ms'])}"
            f"{'' if row['standard'] else ', no standard'})"
            for name, row in surely.sort_values("standard", ascending=False, kind="stable").iterrows()
        ]
        if names:
            said.append(f"over {preset.called} {listed(names)}")
    return f"Shorter, by the 95 % intervals: {'; '.join(said)}. " if said else ""


def _measured(c: ReportInput, suite: str) -> str:
    """What a suite's handshake took over other links, where that was measured."""
    found = [(preset, one.baseline[one.baseline["suite"] == suite]) for preset, one in c.links]
    return ", ".join(f"{_time(rows.iloc[0])} over {preset.described}" for preset, rows in found if len(rows))


def _battery(c: ReportInput, known: pd.DataFrame, choices: Sequence[recommend.Choice]) -> str:
    """What rekeying takes of a flight's energy, of one machine: its watts and its times, or neither."""
    if not c.power_is_measured:
        return (
            f"That was not measured: no power sensor was present. {printed_budget()} Times of this machine say nothing "
            "of another one's watts."
        )
    power = float(c.baseline["power_mean_w"].mean())
    share = energy_percent(power, choices[0].handshake_ms)
    worst = known.loc[known["handshake_ms"].idxmax()]
    most = energy_percent(power, float(worst["handshake_ms"]))
    return (
        f"With a rekey a minute it takes {number(share, 2)} % of a flight's energy, and the longest handshake of "
        f"all, that of {worst['suite']}, {number(most, 2)} %: modelled, at {quantity(power, 'W')} for 30 minutes."
    )


def printed_budget() -> str:
    """The published energy of rekeys, its times and watts of one machine."""
    rows = [
        f"{number(float(row.fraction_of_budget_pct), 2)} % with {row.suite_kem_sig} "
        f"({duration(float(row.handshake_ms))})"
        for row in source.table(PRINTED_BUDGET).itertuples()
    ]
    return (
        "Published for a Raspberry Pi 5, modelled from its own watts and times: a rekey a minute takes, of a flight's "
        f"energy, {listed(rows)}."
    )


def no_weaker(choices: Sequence[recommend.Choice]) -> list[str]:
    """For which uses no weaker suite is recommended, and why."""
    return [
        f"For '{choice.use}' ({choice.meaning}) nothing is recommended: with published standards no handshake of that "
        f"level is surely shorter than that of {choice.as_long}"
        + (
            f"; that of {choice.quicker}, no standard, is."
            if choice.quicker
            else ", so a lower level gains nothing that was measured here."
        )
        for choice in choices
        if choice.as_long
    ]


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
        f"Each suite has {_at_least(rows[COUNT], 'handshake')}, and each pair of KEM and signature "
        f"{_at_least(rows[RUNS], 'run')}; intervals are over the runs. "
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
    kind = " of published standards" if is_standard(rows.loc[[first.suite]]).all() else ""
    base += f"Within the level, {count(ties, 'suite')}{kind} cannot be told apart from it. " if ties else ""
    limits = ["another processor shifts them", "" if c.power_is_measured else "power was not measured"]
    where = f"All times are those of {_where(c)}{', or over links emulated on it' if c.links else ''}"
    return f"{base}{where}: {' and '.join(each for each in limits if each)}."


def _at_least(counts: pd.Series, what: str) -> str:
    """'30 handshakes', or 'at least' as many if some have more."""
    least = int(counts.min())
    return f"{'at least ' if least < counts.max() else ''}{count(least, what)}"


def _where(c: ReportInput) -> str:
    """The machines, and what was between them, as the runs recorded it."""
    link = listed(links_between(c))
    if c.same_host:
        here = f"whose ends a relay joined ({link})" if link else "over loopback without a radio"
        return f"one machine, {here}"
    return f"two machines ({link})" if link else "two machines"


def links_between(c: ReportInput) -> list[str]:
    """What stood between the ends in the runs, by its own description; none is loopback or a link of its own."""
    told = c.raw.get("run_context.link", pd.Series(dtype=str))
    return sorted({str(text) for text in told if str(text) not in ("", "nan", "None")})


def energy_percent(power_w: float, handshake_ms: float) -> float:
    """Share of a flight's energy that a rekey a minute takes [%]."""
    budget = energy.rekey_budget(power_w, energy.PUBLISHED_FLIGHT_S, energy.PUBLISHED_INTERVAL_S, handshake_ms)
    return budget.share_percent
