# SPDX-License-Identifier: Apache-2.0
"""What rekeying costs a flight in energy, the documents' findings, and the recommended deployment."""

from __future__ import annotations

import pandas as pd

from pqc_mav_bench.analysis import energy, pareto, recommend, rekey
from pqc_mav_bench.analysis.estimate import of_suites
from pqc_mav_bench.analysis.intervals import RANKED_FROM, ends
from pqc_mav_bench.analysis.table import has, rank
from pqc_mav_bench.report import sentences
from pqc_mav_bench.report.blocks import MIXED, MODELLED, PUBLISHED, Block, Explanation, Notice, Section, Table
from pqc_mav_bench.report.numbers import MISSING, count, duration, number, quantity
from pqc_mav_bench.report.report_input import ReportInput, published_source
from pqc_mav_bench.report.sections.common import (
    by_family,
    families_of,
    family_finding,
    first_upper,
    with_interval,
    without,
)
from pqc_mav_bench.report.sections.handshakes import known
from pqc_mav_bench.report.sections.published_tables import published_table


def _budget_rows(c: ReportInput, power: float) -> pd.DataFrame:
    fastest = pareto.fastest_per_level(known(c))
    if fastest.empty:  # too few handshakes to name any: those the documents recommend stand for them
        fastest = known(c)[known(c)["suite"].isin(recommend.PUBLISHED.values())]
    slowest = rank(known(c), "handshake_ms", ascending=False).head(1)
    rows = []
    for r in pd.concat([fastest, slowest]).drop_duplicates("suite").itertuples():
        b = energy.rekey_budget(power, energy.PUBLISHED_FLIGHT_S, energy.PUBLISHED_INTERVAL_S, float(r.handshake_ms))
        rows.append([r.suite, r.handshake_ms, b.flight_J, int(b.rekeys), b.rekey_J, b.rekeys_J, b.share_percent])
    headings = [
        "Suite",
        "Handshake (ms)",
        "Flight (J)",
        "Rekeys",
        "One rekey (J)",
        "All rekeys (J)",
        "Share of flight (%)",
    ]
    return pd.DataFrame(rows, columns=headings)


def flight_budget(c: ReportInput) -> Section:
    """Energy budget, findings, deployment."""
    title = "Energy budget of a flight, findings and recommended deployment"
    blocks: list[Block] = []
    own_power = c.power_is_measured and has(c.baseline, "power_mean_w")
    power = float(c.baseline["power_mean_w"].mean()) if own_power else energy.PUBLISHED_POWER_W
    whose = (
        "measured in this campaign"
        if own_power and not c.is_published
        else "published for the Raspberry Pi 5, [rpi5-report] section 24"
    )
    if not own_power:
        blocks.append(
            Notice(
                f"{first_upper(c.name)} has no power sensor, so the budget uses the published mean power of "
                f"{number(power)} W "
                "with the handshake times measured here: energies are a calculation, not a measurement."
            )
        )
    frame = _budget_rows(c, power)
    first, last = frame.iloc[0], frame.iloc[-1]
    explanation = Explanation(
        f"A 30-minute flight at {number(power)} W ({whose}) with a rekey every minute: energy of the flight, of "
        f"one rekey, of all.",
        "Energy of a rekey is mean power times handshake time, as in the documents; it counts the computer's "
        "whole power, not the cryptography's share.",
        [
            f"Thirty rekeys with {first['Suite']} take {quantity(first['All rekeys (J)'], 'J')}, "
            f"{number(first['Share of flight (%)'])} % of "
            f"the flight's {quantity(first['Flight (J)'], 'J')}.",
            f"With the slowest suite, {last['Suite']}, they take {quantity(last['All rekeys (J)'], 'J')} "
            f"({number(last['Share of flight (%)'])} %).",
        ],
    )
    origin = c.origin() if own_power else MODELLED
    extra = () if own_power else published_source("rpi5_energy_budget_report")
    blocks.append(
        Table(
            "energy-budget",
            "Energy budget",
            frame,
            origin if not c.is_published else PUBLISHED,
            [*c.sources, *extra],
            explanation,
        )
    )
    blocks.append(
        published_table(
            "energy-published", "Energy budget, published, [rpi5-report] section 24", "rpi5_energy_budget_report"
        )
    )
    blocks += [_recommendation(c), *_findings(c)]
    return Section("flight_budget", title, blocks)


#: Differences between two suites that no use would notice [ms].
_FEW_MS = 10.0


def _recommendation(c: ReportInput) -> Table | Notice:
    choices = recommend.recommend(c.baseline)
    rows = [
        [
            x.use,
            x.meaning,
            x.suite or MISSING,
            str(x.level or MISSING),
            x.handshake_ms,
            ", ".join(x.tied) or MISSING,
            x.candidates,
            recommend.PUBLISHED.get(x.use, MISSING),
        ]
        for x in choices
    ]
    if not any(x.suite for x in choices):
        if any(x.unranked for x in choices):
            return without(
                c,
                "recommendation",
                f"no suite that qualifies has the {RANKED_FROM} handshakes that a comparison takes",
                f"'pqcmav bench run --handshakes {RANKED_FROM}' measures them.",
            )
        return without(c, "suite that qualifies for any use", "none has a handshake within the limits")
    frame = pd.DataFrame(
        rows,
        columns=[
            "Use",
            "Rule",
            "Suite",
            "Level",
            "Handshake (ms)",
            "Tied with it",
            "Candidates",
            "Documents recommend",
        ],
    )
    same = [x.use for x in choices if x.suite and recommend.PUBLISHED.get(x.use) in (x.suite, *x.tied)]
    differ = [x.use for x in choices if x.use in recommend.PUBLISHED and x.use not in same]
    near, apart_ms = [], 0.0
    for use in differ:
        mine = next(x for x in choices if x.use == use)
        theirs = known(c).loc[known(c)["suite"] == recommend.PUBLISHED[use], "handshake_ms"]
        if len(theirs) and mine.suite:
            apart_ms = max(apart_ms, float(theirs.iloc[0]) - mine.handshake_ms)
            near.append(
                f"For '{use}' the documents recommend {recommend.PUBLISHED[use]}; it takes "
                f"{duration(float(theirs.iloc[0]))} here, "
                f"the chosen {mine.suite} {duration(mine.handshake_ms)}."
            )
    explanation = Explanation(
        "For each use the qualifying suite with the shortest handshake in the main scenario, and those that cannot be "
        "told apart from it.",
        f"A suite qualifies by the rule named, and only with a loss of at most {recommend.LOSS_LIMIT_PERCENT:.0f} %.",
        [
            f"For {' and '.join(same)} the documents recommend the same suite, or one that ties with it."
            if same
            else "",
            *near,
        ],
        [f"Differences below {_FEW_MS:g} ms are no reason to depart from the documents' choice."]
        if near and apart_ms < _FEW_MS
        else [],
    )
    return Table("recommendation", "Recommended suites", frame, c.origin(), c.sources, explanation)


#: What the documents found the best suite of each level to cost [%].
_PHI_FOUND = 0.022


def _findings(c: ReportInput) -> list[Block]:
    """The documents' findings of section 25, each held against the run."""
    families = by_family(known(c))
    lines = [
        family_finding(known(c)),
        sentences.loss(c.runs[c.runs["passed"]]),
    ]
    if "ML-KEM" in families:
        mine = families_of(known(c))["ML-KEM"]
        middle, slowest = (with_interval(of_suites(mine, how)) for how in ("median", "max"))
        lines.append(f"ML-KEM suites: median {middle}, slowest {slowest} (published median 14.4 ms, slowest 1.34 s).")
    fastest = pareto.fastest_per_level(known(c))
    if len(fastest):
        low, high = (max(rekey.phi_percent(end, 60) for end in each) for each in zip(*ends(fastest), strict=True))
        holds = "holds" if high < _PHI_FOUND else "does not hold" if low >= _PHI_FOUND else "cannot be told"
        between = f"{number(high)} %" if low == high else f"{number(low)} to {number(high)} % by the 95 % intervals"
        lines.append(
            f"Published: the best suite of each level costs less than {_PHI_FOUND} % at one rekey a minute. That "
            f"{holds} here: {between}."
        )
    failed = int((~c.runs["passed"]).sum())
    lines.append(
        f"{count(len(c.runs) - failed, 'run')} of {len(c.runs):,} passed."
        if failed
        else f"All {count(len(c.runs), 'run')} passed."
    )
    frame = pd.DataFrame({"Finding, held against this run": [line for line in lines if line]})
    return [Table("findings", "Findings", frame, MIXED if not c.is_published else PUBLISHED, c.sources)]
