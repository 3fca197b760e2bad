# SPDX-License-Identifier: Apache-2.0
"""Sentences made out of numbers. Each function says only what its numbers bear out, or returns "" when they say
nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pandas as pd

from pqc_mav_bench.analysis.change import delta_percent
from pqc_mav_bench.analysis.detector_effect import Effect
from pqc_mav_bench.analysis.scenarios import Overhead
from pqc_mav_bench.analysis.statistics import Summary
from pqc_mav_bench.report.numbers import count, duration, listed, number, quantity, signed, times

#: Changes below this are not called a change: single runs on a shared machine differ by as much [%].
NOTICEABLE_PERCENT = 5.0


def extremes(values: Mapping[str, float], what: str, unit: str, least: str = "least", most: str = "most") -> str:
    """Which member has the least and the most of something, and how far apart they are; "" for fewer than two."""
    known = {name: value for name, value in values.items() if math.isfinite(value)}
    if len(known) < 2:
        return ""
    low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    if quantity(known[low], unit) == quantity(known[high], unit):
        return f"All {len(known)} have the same {what} to three digits, {quantity(known[low], unit)}."
    ratio = (
        f", {times(known[high] / known[low])} as much" if known[low] > 0 and known[high] / known[low] >= 1.05 else ""
    )
    return (
        f"{low} has the {least} {what} ({quantity(known[low], unit)}), {high} the {most} "
        f"({quantity(known[high], unit)}{ratio})."
    )


def fastest_slowest(values: Mapping[str, float], what: str) -> str:
    """Fastest and slowest member by a time in ms; "" for fewer than two."""
    known = {name: value for name, value in values.items() if math.isfinite(value)}
    if len(known) < 2:
        return ""
    low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    if known[low] <= 0 or duration(known[high]) == duration(known[low]):
        return ""
    return (
        f"{low} has the shortest {what} ({duration(known[low])}), {high} the longest "
        f"({duration(known[high])}, {times(known[high] / known[low])} as long)."
    )


def spread(summaries: Mapping[str, Summary], what: str) -> str:
    """Medians of groups against each other, and where the mean misleads."""
    text = fastest_slowest({name: s.median for name, s in summaries.items()}, f"median {what}")
    skewed = [name for name, s in summaries.items() if s.n > 2 and s.mean > 1.5 * s.median]
    if skewed:
        text += (
            f" In {listed(skewed)} the mean is more than one and a half times the median: "
            "a few slow suites pull it up, so the median describes the typical suite better."
        )
    return text.strip()


def overhead(rows: Sequence[Overhead], what: str, scenario_names: Mapping[str, str]) -> list[str]:
    """One sentence per scenario: which groups changed, which did not."""
    sentences = []
    for scenario in dict.fromkeys(row.scenario for row in rows):
        mine = [row for row in rows if row.scenario == scenario and math.isfinite(row.delta_percent)]
        changed = [row for row in mine if abs(row.delta_percent) >= NOTICEABLE_PERCENT]
        name = scenario_names.get(scenario, scenario)
        if not mine:
            continue
        if not changed:
            sentences.append(
                f"Under {name}, no group's {what} differs from Baseline by {NOTICEABLE_PERCENT:.0f} % or more."
            )
            continue
        parts = [
            f"{row.group} {'rises' if row.delta > 0 else 'falls'} by {duration(abs(row.delta))} "
            f"({signed(row.delta_percent, '%', 2)})"
            for row in changed
        ]
        rest = [row.group for row in mine if row not in changed]
        unchanged = (
            f"; {listed(rest)} {'stays' if len(rest) == 1 else 'stay'} within {NOTICEABLE_PERCENT:.0f} %"
            if rest
            else ""
        )
        sentences.append(f"Under {name}, the {what} of {listed(parts)}{unchanged}.")
    return sentences


def effect(found: Effect, name: str) -> str:
    """What a detector does to handshakes, or that it cannot be told."""
    between = f"95 % interval {number(found.low, 3)} to {number(found.high, 3)}, over {found.pairs} pairs"
    if not found.told_apart:
        return f"{name}: handshakes cannot be told apart from those without a detector ({between})."
    return f"{name}: handshakes take {number(found.ratio, 3)} times as long as without a detector ({between})."


def change(value: float, base: float, what: str, unit: str) -> str:
    """How a quantity differs from its base, in the direction the numbers have."""
    if not (math.isfinite(value) and math.isfinite(base)):
        return ""
    percent = delta_percent(value, base)
    if base == 0 or abs(percent) < NOTICEABLE_PERCENT:
        same = value == base
        return (
            f"{what} {'is unchanged' if same else 'differs little'}: {quantity(base, unit)} and "
            f"{quantity(value, unit)}."
        )
    verb = "rises" if value > base else "falls"
    return f"{what} {verb} from {quantity(base, unit)} to {quantity(value, unit)} ({signed(percent, '%', 2)})."


def below(table: pd.DataFrame, column: str, limit: float, what: str, unit: str) -> str:
    """How many suites stay below a limit."""
    known = table[column].dropna()
    if not len(known):
        return ""
    under = int((known < limit).sum())
    total = count(len(known), "suite")
    if under == len(known):
        return f"All {total} stay below {quantity(limit, unit)} {what}."
    if under == 0:
        return f"None of the {total} stays below {quantity(limit, unit)} {what}."
    return f"{under} of {total} {'stays' if under == 1 else 'stay'} below {quantity(limit, unit)} {what}."


def told_apart(names: Sequence[str], what: str, shown: int = 4) -> str:
    """ "A has WHAT", or that several share it because their intervals overlap; "" without any."""
    if not names:
        return ""
    if len(names) == 1:
        return f"{names[0]} has {what}."
    rest = f" and {len(names) - shown} more" if len(names) > shown else ""
    listing = ", ".join(names[:shown]) + rest if rest else listed(list(names))
    return f"{listing} share {what}: their 95 % intervals overlap, so they are a tie."


def family_decides(
    by_family: Mapping[str, Summary], by_level: Mapping[str, Summary], by_signature: Mapping[str, Summary]
) -> str:
    """Whether the published finding that the KEM family matters more than the level holds for these medians, and how
    much the signature's family matters beside it; "" where there is nothing to compare."""
    spans = []
    for groups in (by_family, by_level, by_signature):
        medians = [s.median for s in groups.values() if s.n and s.median > 0]
        spans.append(max(medians) / min(medians) if len(medians) > 1 else math.nan)
    family, level, signature = spans
    if math.isnan(family) or math.isnan(level):
        return ""
    facts = f"medians span {times(family)} between KEM families and {times(level)} between levels"
    if math.isfinite(signature):
        facts += f". Between signature families they span {times(signature)}" + (
            ", so the signature's family decides at least as much as the KEM's" if signature >= family else ""
        )
    if family > level:
        return f"The published finding that the KEM family matters more than the level holds here: {facts}."
    return f"The published finding that the KEM family matters more than the level does not hold here: {facts}."


def loss(table: pd.DataFrame) -> str:
    """Packets lost over all runs of a table."""
    known = table.dropna(subset=["sent_packets", "received_packets"])
    if not len(known):
        return ""
    sent = int(known["sent_packets"].sum())
    lost = sent - int(known["received_packets"].sum())
    if lost == 0:
        return f"None of {sent:,} packets was lost."
    worst = known.loc[known["loss_percent"].idxmax()] if known["loss_percent"].notna().any() else None
    where = (
        f" The worst run is {worst['suite']} ({worst['scenario']}) with {number(worst['loss_percent'])} %."
        if worst is not None
        else ""
    )
    return f"{lost:,} of {sent:,} packets ({number(100 * lost / sent, 2)} %) were lost.{where}"


def ranges(summaries: Mapping[str, Summary]) -> list[str]:
    """Smallest to largest time of each group; groups of one have a single value."""
    lines = []
    for name, s in summaries.items():
        one = duration(s.minimum) == duration(s.maximum)
        lines.append(
            f"{name}: {duration(s.minimum)}." if one else f"{name}: {duration(s.minimum)} to {duration(s.maximum)}."
        )
    return lines


def wide_within(summaries: Mapping[str, Summary], factor: float = 5.0) -> str:
    """Whether every group holds both fast and slow members, so that the grouping does not choose the time."""
    known = [s for s in summaries.values() if s.n > 2 and s.minimum > 0]
    if len(known) < 2 or any(s.maximum / s.minimum < factor for s in known):
        return ""
    return (
        f"Within every level the slowest suite takes more than {factor:.0f} times as long as the fastest: "
        "choosing the level does not choose the handshake time."
    )


def longer_suffer_more(rows: Sequence[Overhead]) -> str:
    """Whether, under each scenario, a longer baseline goes with a larger added time; "" unless it holds throughout."""
    scenarios = {row.scenario for row in rows}
    for scenario in scenarios:
        mine = sorted((row for row in rows if row.scenario == scenario), key=lambda row: row.base)
        if len(mine) < 2 or any(a.delta >= b.delta for a, b in pairwise(mine)) or mine[0].delta < 0:
            return ""
    if not scenarios:
        return ""
    return "The longer a family's handshakes take, the more milliseconds the detector's load adds to them."


def correlation(r: float, what: str, published: float | None = None) -> str:
    """A correlation in words; with the published value where there is one."""
    if not math.isfinite(r):
        return ""
    size = abs(r)
    strength = "strong" if size >= 0.8 else "moderate" if size >= 0.5 else "weak" if size >= 0.2 else "hardly any"
    text = f"There is {'a ' if strength != 'hardly any' else ''}{strength} correlation between {what} (r = {r:.2f}"
    return f"{text}; published r = {published:.2f})." if published is not None else f"{text})."
