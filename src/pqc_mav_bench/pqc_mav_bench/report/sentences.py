# SPDX-License-Identifier: Apache-2.0
"""Sentences made out of numbers. Each function says only what its numbers and their intervals bear out, or returns ""
when they say nothing. What the documents printed has no intervals: `printed_...` say it as it stands there."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import pandas as pd

from pqc_mav_bench.analysis import estimate
from pqc_mav_bench.analysis.change import delta_percent
from pqc_mav_bench.analysis.detector_effect import Effect
from pqc_mav_bench.analysis.estimate import Estimate, known
from pqc_mav_bench.analysis.intervals import HIGH, LOW, is_ranked
from pqc_mav_bench.analysis.scenarios import Overhead
from pqc_mav_bench.analysis.statistics import Summary
from pqc_mav_bench.report.numbers import count, duration, listed, number, quantity, signed, times

#: Printed changes below this are not called a change [%].
NOTICEABLE_PERCENT = 5.0
#: From here on a ratio is said beside two figures.
_WORTH_A_RATIO = 1.05


def extremes(values: Mapping[str, Estimate], what: str, unit: str, least: str = "least", most: str = "most") -> str:
    """Which member has the least and the most of something, as far as intervals tell; "" for fewer than two."""
    shown = known(values)
    texts = {quantity(each.value, unit) for each in shown.values()}
    if len(shown) > 1 and len(texts) == 1:
        return f"All {len(shown)} have the same {what} to three digits, {texts.pop()}."
    return _ends(shown, what, (least, most), lambda value: quantity(value, unit), "as much")


def fastest_slowest(values: Mapping[str, Estimate], what: str) -> str:
    """Shortest and longest member by a time in ms, as far as intervals tell; "" for fewer than two."""
    shown = known(values)
    if any(each.value <= 0 for each in shown.values()) or len({duration(each.value) for each in shown.values()}) < 2:
        return ""
    return _ends(shown, what, ("shortest", "longest"), duration, "as long")


def _ends(
    values: Mapping[str, Estimate], what: str, ends: tuple[str, str], show: Callable[[float], str], as_much: str
) -> str:
    """The sentence about both ends: their ties named, no order claimed where intervals do not tell one."""
    if len(values) < 2:
        return ""
    least_names, most_names = estimate.least(values), estimate.most(values)
    low, high = values[least_names[0]], values[most_names[0]]
    if not all(each.has_interval for each in values.values()):
        return (
            f"The {what} lies between {show(low.value)} and {show(high.value)}; not all have the runs that an interval "
            "takes, so nothing is said about their order."
        )
    if not low.below(high):
        return (
            f"The {what} lies between {show(low.value)} ({least_names[0]}) and {show(high.value)} ({most_names[0]}), "
            "whose 95 % intervals overlap: a tie."
        )
    ratio = ""
    if low.value > 0 and high.value / low.value >= _WORTH_A_RATIO:
        surely = "" if low.is_exact or low.high <= 0 else f", at least {times(high.low / low.high)} by the intervals"
        ratio = f", {times(high.value / low.value)} {as_much}{surely}"
    return (
        f"{_tied(least_names)} has the {ends[0]} {what} ({show(low.value)}{_between(low, show)}), "
        f"{_tied(most_names)} the {ends[1]} ({show(high.value)}{_between(high, show)}{ratio})."
    )


def _tied(names: Sequence[str], shown: int = 3) -> str:
    """The first of some names, with what cannot be told apart from it."""
    if len(names) == 1:
        return names[0]
    more = len(names) - 1 - shown
    others = [*names[1 : shown + 1], *([f"{more} more"] if more > 0 else [])]
    return f"{names[0]} (a tie with {listed(others)})"


def _between(figure: Estimate, show: Callable[[float], str]) -> str:
    return "" if figure.is_exact else f", 95 % interval {show(figure.low)} to {show(figure.high)}"


def spread(medians: Mapping[str, Estimate], means: Mapping[str, Estimate], sizes: Mapping[str, int], what: str) -> str:
    """Medians of groups against each other, and where the mean surely misleads."""
    text = fastest_slowest(medians, f"median {what}")
    skewed = [name for name, middle in medians.items() if sizes[name] > 2 and means[name].low > 1.5 * middle.high]
    if skewed:
        text += (
            f" In {listed(skewed)} the mean is more than one and a half times the median: "
            "a few slow suites pull it up, so the median describes the typical suite better."
        )
    return text.strip()


def printed_overhead(rows: Sequence[Overhead], what: str, scenario_names: Mapping[str, str]) -> list[str]:
    """One sentence per scenario of figures that documents printed, without intervals: which groups changed, which did
    not. What was measured is said by `family_effects`."""
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
    if not found.told_apart:
        return f"{name}: handshakes cannot be told apart from those without a detector ({_interval(found)})."
    return (
        f"{name}: handshakes take {ratio_text(found.ratio)} times as long as without a detector ({_interval(found)})."
    )


def family_effects(found: Mapping[str, Sequence[Effect]], names: Mapping[str, str]) -> list[str]:
    """One sentence per scenario: for which families handshakes change, and for which that cannot be told."""
    sentences = []
    for scenario in dict.fromkeys(each.scenario for effects in found.values() for each in effects):
        mine = {family: each for family, effects in found.items() for each in effects if each.scenario == scenario}
        apart = [
            f"those of {family} {ratio_text(each.ratio)} times ({_interval(each)})"
            for family, each in mine.items()
            if each.told_apart
        ]
        same = [f"{family} ({_interval(each)})" for family, each in mine.items() if not each.told_apart]
        parts = [f"handshakes take a multiple of the time without a detector, {listed(apart)}"] if apart else []
        if same:
            parts.append(f"handshakes of {listed(same)} cannot be told apart from those without a detector")
        few = [family for family in found if family not in mine]
        if few:
            parts.append(f"{listed(few)} {'has' if len(few) == 1 else 'have'} too few pairs for an interval")
        sentences.append(f"Under {names.get(scenario, scenario)}, {'; '.join(parts)}.")
    return sentences


def _interval(found: Effect) -> str:
    return (
        f"95 % interval {ratio_text(found.low)} to {ratio_text(found.high)}, over {found.pairs} pairs; p = "
        f"{number(found.p, 2)}"
    )


def ratio_text(ratio: float) -> str:
    """A ratio with three digits, or as many more as it takes to tell it from 1: 1.00014 is not written 1.00."""
    digits = next((n for n in range(3, 9) if float(number(ratio, n).replace(",", "")) != 1.0), 3)
    return number(ratio, digits) if ratio != 1 else "1"


def compared(found: Effect, what: str, name: str) -> str:
    """How a figure other than a time compares with the same without a detector, or that it cannot be told."""
    if not found.told_apart:
        return f"{what} under {name} cannot be told apart from that without a detector ({_interval(found)})."
    return f"{what} under {name} is {ratio_text(found.ratio)} times that without a detector ({_interval(found)})."


def printed_change(value: float, base: float, what: str, unit: str) -> str:
    """How a figure that a document printed differs from its base, in the direction the numbers have."""
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
    """How many suites stay below a limit; those whose handshake's interval holds the limit are counted apart."""
    rows = table.dropna(subset=[column])
    if not len(rows):
        return ""
    low, high = rows[column], rows[column]
    if column == "handshake_ms" and LOW in rows.columns:
        if not is_ranked(rows).all():
            return ""
        low, high = rows[LOW], rows[HIGH]
    under, open_ones = int((high < limit).sum()), int(((low < limit) & (high >= limit)).sum())
    total = count(len(rows), "suite")
    if under == len(rows):
        return f"All {total} stay below {quantity(limit, unit)} {what}."
    if under == 0 and not open_ones:
        return f"None of the {total} stays below {quantity(limit, unit)} {what}."
    undecided = f"; of {open_ones} more the 95 % interval holds that limit" if open_ones else ""
    return f"{under} of {total} {'stays' if under == 1 else 'stay'} below {quantity(limit, unit)} {what}{undecided}."


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
    by_family: Mapping[str, Estimate], by_level: Mapping[str, Estimate], by_signature: Mapping[str, Estimate]
) -> str:
    """Whether the published finding that the KEM family matters more than the level holds for these medians, and how
    much the signature's family matters beside it; "" where there is nothing to compare, or no interval."""
    family, level, signature = (estimate.span_ratio(groups) for groups in (by_family, by_level, by_signature))
    if not (family.has_interval and level.has_interval):
        return ""
    facts = f"medians span {_times(family)} between KEM families and {_times(level)} between levels"
    if signature.has_interval:
        facts += f". Between signature families they span {_times(signature)}"
        if signature.low >= family.high:
            facts += ", so the signature's family decides at least as much as the KEM's"
        elif not signature.below(family):
            facts += "; which of the two kinds of families decides more cannot be told"
    finding = "the published finding that the KEM family matters more than the level"
    if level.below(family):
        return f"T{finding[1:]} holds here: {facts}."
    if family.below(level) or (family.is_exact and level.is_exact):
        return f"T{finding[1:]} does not hold here: {facts}."
    return f"Whether {finding} holds cannot be told here: {facts}."


def _times(ratio: Estimate) -> str:
    between = "" if ratio.is_exact else f" ({number(ratio.low, 2)} to {number(ratio.high, 2)} by the 95 % intervals)"
    return f"{times(ratio.value)}{between}"


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
        f" The run that lost most, {worst['suite']} ({worst['scenario']}), lost {number(worst['loss_percent'])} %; "
        "another run of it may lose none."
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


def wide_within(shortest: Mapping[str, Estimate], longest: Mapping[str, Estimate], factor: float = 5.0) -> str:
    """Whether every group surely holds both fast and slow members, so that the grouping does not choose the time."""
    groups = [(shortest[name], longest[name]) for name in shortest]
    if len(groups) < 2 or not all(low.high > 0 and high.low / low.high >= factor for low, high in groups):
        return ""
    return (
        f"Within every level the slowest suite takes more than {factor:.0f} times as long as the fastest: "
        "choosing the level does not choose the handshake time."
    )


def stronger(
    one: tuple[str, Mapping[str, Estimate]], other: tuple[str, Mapping[str, Estimate]], what: str, unit: str
) -> str:
    """Which of two groupings moves a figure further, or that it cannot be told; "" without intervals of both."""
    gaps = [(name, estimate.span_gap(groups)) for name, groups in (one, other)]
    if not all(gap.has_interval for _, gap in gaps):
        return ""
    (more, far), (fewer, near) = sorted(gaps, key=lambda each: -each[1].value)
    facts = " and ".join(f"{quantity(gap.value, unit)}{_ends_of(gap, unit)} between {name}s" for name, gap in gaps)
    facts = facts.replace("familys", "families")
    if near.below(far):
        return f"The {more} matters more for the {what} than the {fewer}: it differs by {facts}."
    return f"Whether {one[0]} or {other[0]} matters more for the {what} cannot be told: it differs by {facts}."


def _ends_of(gap: Estimate, unit: str) -> str:
    return "" if gap.is_exact else f" ({number(gap.low, 2)} to {quantity(gap.high, unit, 2)})"


def longer_suffer_more(rows: Mapping[str, Sequence[tuple[Estimate, Estimate]]]) -> str:
    """Whether, under each scenario, a longer handshake surely goes with a larger added time: pairs of both, one for
    each family; "" unless it holds throughout."""
    for families in rows.values():
        mine = sorted(families, key=lambda each: each[0].value)
        if len(mine) < 2 or not mine[0][1].low >= 0:
            return ""
        if not all(a[0].below(b[0]) and a[1].below(b[1]) for a, b in pairwise(mine)):
            return ""
    if not rows:
        return ""
    return "The longer a family's handshakes take, the more milliseconds the detector's load adds to them."


def correlation(r: Estimate, what: str, published: float | None = None) -> str:
    """A correlation in words, where both ends of its interval ask for the same ones; with the published value where
    there is one."""
    if not math.isfinite(r.value):
        return ""
    text = f"The correlation between {what} has no interval"
    if r.has_interval:
        words = {_strength(end) for end in (r.low, r.value, r.high)}
        if len(words) == 1 and (r.low > 0 or r.high < 0 or words == {_NONE}):
            word = words.pop()
            text = f"There is {'a ' if word != _NONE else ''}{word} correlation between {what}"
        else:
            text = f"How strong the correlation between {what} is cannot be told"
    between = f", 95 % interval {r.low:.2f} to {r.high:.2f}" if r.has_interval and not r.is_exact else ""
    text = f"{text} (r = {r.value:.2f}{between}"
    return f"{text}; published r = {published:.2f})." if published is not None else f"{text})."


_NONE = "hardly any"


def _strength(r: float) -> str:
    size = abs(r)
    return "strong" if size >= 0.8 else "moderate" if size >= 0.5 else "weak" if size >= 0.2 else _NONE
