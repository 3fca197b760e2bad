# SPDX-License-Identifier: Apache-2.0
"""A comparison as JSON for programs, and as a page for people that is made from the JSON alone."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pqc_mav_common.markdown import table
from pqc_mav_policy_lab.compare.comparison import (
    HEAVY,
    HEAVY_SUITE,
    LEVEL5,
    LEVEL5_SUITE,
    STATIC,
    STATIC_REKEY_S,
    STATIC_SUITE,
    Comparison,
)
from pqc_mav_policy_lab.missions.simulated import SIMULATED

FORMAT = "pqcmav-policy-comparison"
_DIGITS = 3
_EXPLAINED = f"""Security-weighted time counts every second with a live session by S = level x freshness of the keys
(level 1: 0.6, 3: 0.8, 5: 1.0; keys older than 60 s, under attack 30 s, count less); "mean S" is its share of the
mission. S ignores cost; the mean of R = w_sec S - w_lat L - w_pwr P, with the weights of each phase, counts it.
Violations are counted by independent checks of the invariants I1-I4 and of the limits on rekeys; a lasting violation
counts once. Energies are those of the companion computer. policy.json also has the energy of the flight, outages of the
radio, and how long the same rekeys would have cut the link of the published system.

`{STATIC}` is {STATIC_SUITE}, `{LEVEL5}` is {LEVEL5_SUITE}, `{HEAVY}` is {HEAVY_SUITE}, all rekeyed every
{STATIC_REKEY_S:g} s whatever happens. One flight each, so no intervals: [policy-judged.md](policy-judged.md) has them,
and says when adapting pays.
"""


def as_content(comparison: Comparison, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The result as one JSON object: equal comparisons give equal text."""
    rows = [
        _rounded({**asdict(row), "mean_security": row.mean_security, "broken": row.broken}) for row in comparison.rows
    ]
    return {"format": FORMAT, "handshake_costs": comparison.costs, "settings": dict(settings), "rows": rows}


def as_markdown(content: Mapping[str, Any]) -> str:
    """The page."""
    rows = content["rows"]
    simulated = sum(1 for row in rows if row["source"] == SIMULATED)
    parts = [
        "# Strategies of the policy, compared\n",
        f"**{simulated} of {len(rows)} flights are simulated**, the rest recorded. Handshake costs: "
        f"{content['handshake_costs']}. `pqcmav policy compare` makes this page; `make report` puts it into "
        "build/report with its figures, policy.json.\n",
        _EXPLAINED,
    ]
    parts.append(_summary(rows))
    parts.append(_missions(rows))
    return "\n".join(parts)


def _summary(rows: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(row["strategy"] for row in rows))
    lines = []
    for name in names:
        own = [row for row in rows if row["strategy"] == name]
        seconds = sum(row["seconds"] for row in own)
        share = sum(row["security_s"] for row in own) / seconds
        worth = sum(row["reward"] * row["seconds"] for row in own) / seconds
        lines.append(
            [
                name,
                f"{share:.3f}",
                f"{worth:.3f}",
                sum(row["rekeys"] for row in own),
                f"{max(row['longest_handshake_s'] for row in own):.2f}",
                f"{sum(row['handshake_energy_j'] for row in own):.2f}",
                sum(row["broken"] for row in own),
            ]
        )
    head = ["all missions", "mean S", "mean R", "rekeys", "longest handshake s", "handshakes J", "violations"]
    return "## Summary\n\n" + table(head, lines)


def _missions(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line a mission, a column a strategy; what broke is named."""
    names = list(dict.fromkeys(row["strategy"] for row in rows))
    of = {(row["mission"], row["strategy"]): row for row in rows}
    lines = []
    for mission in dict.fromkeys(row["mission"] for row in rows):
        flown = [of[mission, name] for name in names]
        lines.append([f"{mission} ({flown[0]['source']}, {flown[0]['seconds']} s)", *map(_cell, flown)])
    head = "Mean S; suite changes and rekeys; seconds at levels 1/3/5; what was broken.\n\n"
    return "## By mission\n\n" + head + table(["mission", *names], lines)


def _cell(row: Mapping[str, Any]) -> str:
    broken = [f"**{kind} x{count}**" for kind, count in row["violations"].items() if count]
    levels = "/".join(str(seconds) for seconds in row["level_s"].values())
    told = [f"{row['mean_security']:.3f}", f"{row['suite_changes']}, {row['rekeys']}", levels, *broken]
    return "; ".join(told)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {str(key): _rounded(entry) for key, entry in value.items()}
    return value
