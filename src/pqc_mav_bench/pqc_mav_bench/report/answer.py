# SPDX-License-Identifier: Apache-2.0
"""The report's first pages: what was asked, and the answer with its uncertainty, before anything else.

Which suite, on which link, with which battery, and how sure: from the campaign's own rows. Times on other links are
computed from the bytes of the handshake, and say so.
"""

import math
from collections.abc import Sequence
from html import escape

import pandas as pd

from pqc_mav_bench.analysis import recommend
from pqc_mav_bench.analysis.intervals import COUNT, LOW, MEASURES, NEEDED, is_ranked
from pqc_mav_bench.analysis.standards import standards_first
from pqc_mav_bench.analysis.table import LEVELS, SCENARIO_NAMES, has
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import COMPUTED, Block, Explanation, Notice, Prose, Table
from pqc_mav_bench.report.estimates import handshake_time
from pqc_mav_bench.report.in_short import NEGLIGIBLE_PERCENT, energy_percent, in_short, links_between, no_weaker
from pqc_mav_bench.report.link import LINKS
from pqc_mav_bench.report.measured_links import over_links
from pqc_mav_bench.report.numbers import MISSING, count, duration, listed, number, quantity
from pqc_mav_bench.report.report_input import ReportInput

_SHOWN_TIES = 3


def asked(c: ReportInput) -> list[str]:
    """The question, and what was measured for it."""
    lines = [
        "Which cipher suite should a drone's link use, on which link, with which battery, and how sure is that?",
    ]
    if c.is_published:
        return [*lines, "Here the published figures of October 2025 are asked; nothing was measured for this report."]
    link = links_between(c)
    here = "loopback, without a radio" if c.same_host else "the network between two machines"
    between = f"an impaired link ({listed(link)})" if link else here
    handshakes = c.baseline[COUNT].dropna()
    each = f"{int(handshakes.min())} handshakes or more of each" if len(handshakes) and handshakes.min() > 1 else ""
    lines.append(
        f"Measured: {count(c.runs['suite'].nunique(), 'suite')}, "
        f"{listed([SCENARIO_NAMES.get(name, name) for name in c.scenarios])}, over {between}"
        f"{', ' + each if each else ', one handshake of each'}."
    )
    return lines


def shortly(c: ReportInput) -> Prose | None:
    """The answer in a few sentences; None where no suite is recommended."""
    choices = [choice for choice in recommend.recommend(c.baseline) if choice.suite]
    if not choices:
        return None
    found = in_short(c, c.known, choices)
    entries = "".join(f"<dt>{escape(question)}</dt><dd>{escape(text)}</dd>" for question, text in found)
    return Prose(f'<dl class="short">{entries}</dl>')


def answer(c: ReportInput) -> list[Block]:
    """What to use when, and how sure that is."""
    known = c.known
    choices = [choice for choice in recommend.recommend(c.baseline) if choice.suite]
    blocks: list[Block] = [_by_use(c, known, choices)] if choices else [_none(c)]
    more = (_by_bytes(c, known), over_links(c), over_links(c, more=True))
    return [*blocks, *(block for block in more if block is not None)]


def _none(c: ReportInput) -> Notice:
    if not is_ranked(c.baseline).any():
        return Notice(f"No suite is recommended: that takes {NEEDED}, and this campaign has fewer. {MEASURES}")
    return Notice("No suite is recommended: none keeps within the limits of any use.")


def _by_use(c: ReportInput, known: pd.DataFrame, choices: Sequence[recommend.Choice]) -> Table:
    """One row for each use."""
    rows = known.set_index("suite")
    power = float(c.baseline["power_mean_w"].mean()) if c.power_is_measured else math.nan
    shares = [energy_percent(power, choice.handshake_ms) for choice in choices]
    frame = pd.DataFrame(
        {
            "For": [choice.use for choice in choices],
            "Use": [choice.suite for choice in choices],
            "or, not told apart": [_ties(choice.tied) for choice in choices],
            "Shorter, but no standard": [choice.quicker or MISSING for choice in choices],
            "Level": [str(choice.level) for choice in choices],
            "Handshake here": [handshake_time(rows.loc[choice.suite]) for choice in choices],
            **({"Rekeys, share of a flight's energy, modelled (%)": shares} if c.power_is_measured else {}),
        }
    )
    lasting = max(shares)
    explanation = Explanation(
        "For each use the suite whose handshake is shortest, of published standards if any fits, and how sure that is: "
        + "; ".join(f"{choice.use} is {choice.meaning}" for choice in choices)
        + ".",
        "A time is the median over the runs of a suite's KEM and signature, in brackets its 95 % interval. What cannot "
        "be told apart is a tie: take any of them."
        + (
            f" The share of energy is modelled: 30 minutes at {number(power)} W, one rekey a minute at full power."
            if c.power_is_measured
            else ""
        ),
        [
            sentences.told_apart(
                [choice.suite, *choice.tied], f"the shortest handshake for '{choice.use}'", _SHOWN_TIES
            )
            for choice in choices
            if LOW in known.columns
        ]
        + no_weaker(recommend.recommend(c.baseline)),
        [
            f"Rekeying every minute takes at most {number(lasting)} % of a flight's energy with any of them, modelled: "
            "the battery is no reason to choose a weaker suite."
            if lasting < NEGLIGIBLE_PERCENT
            else ""
        ],
    )
    return Table("what-to-use", "What to use when", frame, c.origin(), c.sources, explanation)


def _by_bytes(c: ReportInput, known: pd.DataFrame) -> Table | None:
    """On a thin link: the fewest bytes at each level. None without sizes."""
    if not has(known, "handshake_bytes"):
        return None
    pairs = known.groupby(["kem", "sig", "nist_level"], as_index=False)["handshake_bytes"].median()
    levels = [rows for _, rows in pairs.groupby("nist_level")]
    least = [standards_first(rows).nsmallest(1, "handshake_bytes").iloc[0] for rows in levels]
    fewest = [rows.nsmallest(1, "handshake_bytes").iloc[0] for rows in levels]
    drafts = [one for one, kept in zip(fewest, least, strict=True) if one.name != kept.name]
    most = pairs.nlargest(1, "handshake_bytes").iloc[0]
    rows = [*least, *drafts, most]
    frame = pd.DataFrame(
        {
            "Level": [str(int(row["nist_level"])) for row in rows],
            "Fewest bytes": [f"{row['kem']} with {row['sig']}" for row in least]
            + [f"{row['kem']} with {row['sig']} (no standard)" for row in drafts]
            + [f"{most['kem']} with {most['sig']} (most of all)"],
            "Handshake (B)": [row["handshake_bytes"] for row in rows],
            **{f"{link.name} (s)": [link.seconds(float(row["handshake_bytes"])) for row in rows] for link in LINKS},
        }
    )
    thin = LINKS[-1]
    weakest, strongest = least[0], least[-1]
    added = thin.seconds(float(strongest["handshake_bytes"])) - thin.seconds(float(weakest["handshake_bytes"]))
    explanation = Explanation(
        "On a thin link the bytes of a handshake decide, not the processor. At each level the KEM and signature with "
        "the fewest, standards first, and the pair with the most of all; the cipher adds its name alone.",
        "Bytes are the median over all runs of the pair and need no interval: a name has 10 more than another, "
        "Falcon's signatures vary by a few, and an acknowledgement of 40 is not always needed. Seconds are computed: "
        "two round trips, and the bytes in fragments at the rate of the link; with other traffic on it they are more.",
        [
            f"Over {thin.name}, level {int(strongest['nist_level'])} takes {quantity(abs(added), 's')} "
            f"{'longer' if added >= 0 else 'less'} than level {int(weakest['nist_level'])}, and the keys of the "
            f"running session carry the data meanwhile; {most['kem']} with {most['sig']} takes "
            f"{duration(1e3 * thin.seconds(float(most['handshake_bytes'])))}."
            if len(least) == len(LEVELS)
            else ""
        ],
    )
    return Table("answer-bytes", "On a thin link", frame, COMPUTED, c.sources, explanation)


def _ties(names: Sequence[str]) -> str:
    if not names:
        return MISSING
    more = len(names) - _SHOWN_TIES
    return ", ".join(names[:_SHOWN_TIES]) + (f" and {more} more" if more > 0 else "")
