# SPDX-License-Identifier: Apache-2.0
"""What rekeying costs a flight in energy, the documents' findings, and the recommended deployment."""

import pandas as pd

from pqc_mav_bench.analysis import energy, pareto, recommend, rekey
from pqc_mav_bench.analysis.estimate import of_suites
from pqc_mav_bench.analysis.intervals import MEASURES, NEEDED, ends
from pqc_mav_bench.analysis.table import has, rank
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import MIXED, MODELLED, PUBLISHED, Block, Notice, Section
from pqc_mav_bench.report.in_short import no_weaker
from pqc_mav_bench.report.numbers import MISSING, count, duration, number, quantity
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import (
    families_of,
    family_finding,
    first_upper,
    with_interval,
    without,
)
from pqc_mav_bench.report.sections.figures import table
from pqc_mav_bench.report.sections.published_tables import published


def _budget_rows(c: ReportInput, power: float) -> pd.DataFrame:
    fastest = pareto.fastest_per_level(c.known)
    if fastest.empty:  # too few handshakes to name any: those the documents recommend stand for them
        fastest = c.known[c.known["suite"].isin(recommend.PUBLISHED.values())]
    slowest = rank(c.known, "handshake_ms", ascending=False).head(1)
    rows = []
    for r in pd.concat([fastest, slowest]).drop_duplicates("suite").itertuples():
        b = energy.rekey_budget(power, energy.PUBLISHED_FLIGHT_S, energy.PUBLISHED_INTERVAL_S, float(r.handshake_ms))
        rows.append([r.suite, r.handshake_ms, b.flight_J, int(b.rekeys), b.rekey_J, b.rekeys_J, b.share_percent])
    headings = ("Suite", "Handshake (ms)", "Flight (J)", "Rekeys", "One rekey (J)", "All rekeys (J)", _SHARE)
    return pd.DataFrame(rows, columns=list(headings))


_SHARE = "Share of flight (%)"


def flight_budget(c: ReportInput) -> Section:
    """Energy budget, findings, deployment."""
    blocks: list[Block] = []
    if c.power_is_measured and has(c.baseline, "power_mean_w"):
        blocks.append(_own_budget(c, float(c.baseline["power_mean_w"].mean())))
    else:
        blocks.append(
            Notice(
                f"{first_upper(c.name)} has no power sensor, so it has no energy budget: its handshake times are not "
                "multiplied by another machine's watts, because nothing here says by which factor that machine is "
                "slower. The published budget follows, whose times and watts are of one machine."
            )
        )
    blocks += [published("energy-published"), _recommendation(c), _findings(c)]
    return Section("flight_budget", "Energy budget of a flight, findings and recommended deployment", blocks)


def _own_budget(c: ReportInput, power: float) -> Block:
    """The budget of a campaign with a sensor: its own watts times its own handshakes."""
    frame = _budget_rows(c, power)
    first, last = frame.iloc[0], frame.iloc[-1]
    says = [
        f"Modelled, thirty rekeys with {first['Suite']} take {quantity(first['All rekeys (J)'], 'J')}, "
        f"{number(first[_SHARE])} % of the flight's {quantity(first['Flight (J)'], 'J')}.",
        f"With the slowest suite, {last['Suite']}, they take {quantity(last['All rekeys (J)'], 'J')} "
        f"({number(last[_SHARE])} %).",
    ]
    whose = "measured in this campaign"
    return table(c, "energy-budget", frame, says, origin=MODELLED, number=number(power), whose=whose)


#: Differences between two suites that no use would notice [ms].
_FEW_MS = 10.0


def _recommendation(c: ReportInput) -> Block:
    choices = recommend.recommend(c.baseline)
    if not any(x.suite for x in choices):
        if any(x.unranked for x in choices):
            reason = f"it takes {NEEDED}, and no suite that qualifies has them"
            return without(c, "recommendation", reason, MEASURES)
        return without(c, "suite that qualifies for any use", "none has a handshake within the limits")
    frame = pd.DataFrame(
        {
            "Use": [x.use for x in choices],
            "Rule": [x.meaning for x in choices],
            "Suite": [x.suite or MISSING for x in choices],
            "Level": [str(x.level or MISSING) for x in choices],
            "Handshake (ms)": [x.handshake_ms for x in choices],
            "Tied with it": [", ".join(x.tied) or MISSING for x in choices],
            "Candidates": [x.candidates for x in choices],
            "Documents recommend": [recommend.PUBLISHED.get(x.use, MISSING) for x in choices],
        }
    )
    same = [x.use for x in choices if x.suite and recommend.PUBLISHED.get(x.use) in (x.suite, *x.tied)]
    differ = [x for x in choices if x.suite and x.use in recommend.PUBLISHED and x.use not in same]
    near: list[str] = []
    apart_ms = 0.0
    for mine in differ:
        theirs = c.known.loc[c.known["suite"] == recommend.PUBLISHED[mine.use], "handshake_ms"]
        if len(theirs) and mine.suite:
            apart_ms = max(apart_ms, float(theirs.iloc[0]) - mine.handshake_ms)
            near.append(
                f"For '{mine.use}' the documents recommend {recommend.PUBLISHED[mine.use]}; it takes "
                f"{duration(float(theirs.iloc[0]))} here, the chosen {mine.suite} {duration(mine.handshake_ms)}."
            )
    agreed = f"For {' and '.join(same)} the documents recommend the same suite, or one that ties with it."
    little = f"Differences below {_FEW_MS:g} ms are no reason to depart from the documents' choice."
    read = f"A suite qualifies by the rule named, and only with a loss of at most {recommend.LOSS_LIMIT_PERCENT:.0f} %."
    meaning = [little] if near and apart_ms < _FEW_MS else []
    says = [agreed if same else "", *near, *no_weaker(choices)]
    return table(c, "recommendation", frame, says, meaning, read=read)


#: What the documents found the best suite of each level to cost [%].
_PHI_FOUND = 0.022


def _findings(c: ReportInput) -> Block:
    """The documents' findings of section 25, each held against the run."""
    lines = [family_finding(c.known), sentences.loss(c.passed)]
    mine = families_of(c.known)["ML-KEM"]
    if len(mine):
        middle, slowest = (with_interval(of_suites(mine, how)) for how in ("median", "max"))
        lines.append(f"ML-KEM suites: median {middle}, slowest {slowest} (published median 14.4 ms, slowest 1.34 s).")
    fastest = pareto.fastest_per_level(c.known)
    if len(fastest):
        low, high = (max(rekey.phi_percent(end, 60) for end in each) for each in zip(*ends(fastest), strict=True))
        holds = "holds" if high < _PHI_FOUND else "does not hold" if low >= _PHI_FOUND else "cannot be told"
        between = f"{number(high)} %" if low == high else f"{number(low)} to {number(high)} % by the 95 % intervals"
        lines.append(
            f"Published: the best suite of each level costs less than {_PHI_FOUND} % at one rekey a minute. That "
            f"{holds} here: {between}."
        )
    good, runs = int(c.runs["passed"].sum()), len(c.runs) + len(c.lost)
    lines.append(f"{count(good, 'run')} of {runs:,} passed." if good < runs else f"All {count(runs, 'run')} passed.")
    frame = pd.DataFrame({"Finding, held against this run": [line for line in lines if line]})
    return table(c, "findings", frame, origin=PUBLISHED if c.is_published else MIXED)
