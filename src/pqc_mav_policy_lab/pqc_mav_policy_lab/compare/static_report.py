# SPDX-License-Identifier: Apache-2.0
"""A strategy against every static suite, as JSON for programs and as a page that says where a static suite wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy_lab.compare.against_static import MEASURES, Pair
from pqc_mav_policy_lab.compare.comparison import STATIC_REKEY_S
from pqc_mav_policy_lab.compare.variants import T_95

FORMAT = "pqcmav-policy-against-static"
_DIGITS = 4
# A difference smaller than this has no use to anybody: of a mission's security, and of its energy.
NEGLIGIBLE_SHARE = 0.005
NEGLIGIBLE_ENERGY = 0.001


def as_content(pairs: Sequence[Pair], strategy: str, costs: str) -> dict[str, Any]:
    """All pairs, rounded; equal results give equal text."""
    rows = [
        {
            "mission": pair.mission,
            "suite": pair.suite,
            "seeds": pair.seeds,
            **{
                name: {
                    "static": round(pair.static[name], _DIGITS),
                    "strategy": round(pair.strategy[name], _DIGITS),
                    "difference": round(pair.difference[name].mean, _DIGITS),
                    "half_interval": round(pair.difference[name].half, _DIGITS),
                }
                for name, _, _ in MEASURES
            },
        }
        for pair in pairs
    ]
    return {"format": FORMAT, "strategy": strategy, "handshake_costs": costs, "rows": rows}


def verdict(row: Mapping[str, Any]) -> str:
    """What the intervals say: "better", "same", "worse" in security, and what costs more, e.g. "worse; energy"."""
    security = row["security"]
    if abs(security["difference"]) <= security["half_interval"]:
        said = "same"
    else:
        said = "better" if security["difference"] > 0 else "worse"
    dearer = [
        name
        for name in ("violations", "energy", "outage")
        if row[name]["difference"] > row[name]["half_interval"] and row[name]["difference"] > 0
    ]
    return "; ".join([said, *dearer])


def negligible(row: Mapping[str, Any]) -> bool:
    """Whether what speaks against the strategy is too small to matter."""
    security, energy = row["security"], row["energy"]
    return (
        security["difference"] > -NEGLIGIBLE_SHARE
        and energy["difference"] < NEGLIGIBLE_ENERGY * energy["static"]
        and all(row[name]["difference"] <= row[name]["half_interval"] for name in ("violations", "outage"))
    )


def as_markdown(content: Mapping[str, Any], catalogue: Catalogue) -> str:
    """The page, made from the JSON alone."""
    rows, strategy = content["rows"], content["strategy"]
    seeds = min(row["seeds"] for row in rows)
    suites = len({row["suite"] for row in rows})
    lost = [row for row in rows if verdict(row) not in ("better", "same")]
    mattering = [row for row in lost if not negligible(row)]
    counts = {word: sum(1 for row in rows if verdict(row).startswith(word)) for word in ("better", "same", "worse")}
    missions = len({row["mission"] for row in rows})
    parts = [
        f"# Strategy `{strategy}` against every static suite\n",
        f"All flights are simulated: {missions} missions, {seeds} variants each (times, magnitudes and gusts drawn by "
        f"number), {suites} static suites (one for each key exchange and signature; the model knows no difference "
        f"between AEADs), rekeyed every {STATIC_REKEY_S:g} s. In each pair the strategy starts on the static flight's "
        "suite and is configured with it, so its floor is that suite's level. Handshake costs: "
        f"{content['handshake_costs']}. `pqcmav policy against-static` makes this page.\n",
        "Security is the mean S of [policy.md](policy.md); intervals are 95 % of the mean paired difference "
        f"(t = {T_95}).\n",
        f"In security `{strategy}` is better in {counts['better']} of {len(rows)} pairs, the same in "
        f"{counts['same']}, worse in {counts['worse']}. Violations fall or stay in {_no_more(rows, 'violations')} "
        f"pairs, energy in {_no_more(rows, 'energy')}, outage in {_no_more(rows, 'outage')}.\n",
        "## Where a static suite wins\n",
    ]
    if not lost:
        parts.append("Nowhere.\n")
    else:
        parts.append(
            f"In {len(lost)} pairs something speaks for the static suite; in {len(lost) - len(mattering)} of them it "
            f"is less than {100 * NEGLIGIBLE_SHARE:g} % of the security and less than {100 * NEGLIGIBLE_ENERGY:g} % of "
            "the energy. Static suites of level 5 renew their keys during take-off and landing, which the strategy "
            "does not: keys that fall due then grow older than the interval, for up to 20 s. It depends on the second "
            "in which the manoeuvre begins, and these missions are a bad case: they take off exactly one interval "
            "after the start. No rule can take that back without a handshake in a manoeuvre, or more of them than the "
            "rate limit allows: the landing is not foreseen, and renewals by age use the whole limit.\n"
        )
        parts.append(_table(lost, catalogue))
    parts += ["## All other pairs\n", _table([row for row in rows if row not in lost], catalogue)]
    return "\n".join(parts)


def _no_more(rows: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(1 for row in rows if row[name]["difference"] <= row[name]["half_interval"])


def _table(rows: Sequence[Mapping[str, Any]], catalogue: Catalogue) -> str:
    head = (
        "mission",
        "static suite",
        "L",
        "S static",
        "S",
        "difference",
        "violations",
        "energy J",
        "outage s",
        "security",
    )
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        suite, security = catalogue[row["suite"]], row["security"]
        cells = (
            row["mission"],
            suite.short_code,
            suite.level,
            f"{security['static']:.3f}",
            f"{security['strategy']:.3f}",
            _difference(security, 4),
            f"{row['violations']['static']:.2f} -> {row['violations']['strategy']:.2f}",
            _difference(row["energy"], 3),
            _difference(row["outage"], 2),
            verdict(row),
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def _difference(value: Mapping[str, float], digits: int) -> str:
    return f"{value['difference']:+.{digits}f} ± {value['half_interval']:.{digits}f}"
