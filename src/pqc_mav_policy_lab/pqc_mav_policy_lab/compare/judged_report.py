# SPDX-License-Identifier: Apache-2.0
"""The judgement of the strategies as JSON, and as a page that says when adapting pays and when it does not.

Each sentence follows from the figures: other figures, other sentences.
"""

from collections.abc import Mapping, Sequence
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
)
from pqc_mav_policy_lab.compare.judged import AT_LEVEL5, MEASURES, Judged
from pqc_mav_policy_lab.compare.variants import T_95, Figure
from pqc_mav_policy_lab.missions.attacked import ATTACKS
from pqc_mav_policy_lab.missions.attacked import NAMES as DETECTED

FORMAT = "pqcmav-policy-judged"
_DIGITS = 4
#: A difference of mean security below this is nothing that a choice should rest on.
NEGLIGIBLE = 0.005
_STATICS = (STATIC, HEAVY, LEVEL5)
#: Heading, what of a row, which measure, how many digits; policy-judged.json has the other measures.
_TABLES = (
    (f"Mean security against `{LEVEL5}`", "against_level5", "security", 4),
    ("Violations", "measures", "violations", 2),
    ("Energy of handshakes, J", "measures", "handshakes", 2),
    ("Outage, s", "measures", "outage", 1),
)
_SHEET = "[data sheet](../../docs/detection.md#the-recordings)"
_RECORDED = (
    f"In the missions {', '.join(f'`{name}`' for name in DETECTED)} the detector of that name really runs. Each flight "
    f"meets {ATTACKS} attacks that the fault laboratory recorded ({_SHEET}) and nobody trained with; the variant's "
    "number draws them, the same for every detector. The strategies hear what it says; S is weighted by what the "
    "attacker did. Its own load, measured in [detection.md](detection.md), is left out.\n"
)


def as_content(found: Sequence[Judged], costs: str) -> dict[str, Any]:
    """All figures, rounded; equal results give equal text."""
    rows = [
        {
            "mission": each.mission,
            "strategy": each.strategy,
            "seeds": each.seeds,
            "measures": {name: _pair(each.measures[name]) for name, _, _ in MEASURES},
            "against_level5": {name: _pair(each.difference[name]) for name, _, _ in MEASURES},
        }
        for each in found
    ]
    return {"format": FORMAT, "handshake_costs": costs, "rows": rows}


def _pair(figure: Figure) -> list[float]:
    return [round(figure.mean, _DIGITS), round(figure.half, _DIGITS)]


def as_markdown(content: Mapping[str, Any]) -> str:
    """The page, made from the JSON alone."""
    rows = content["rows"]
    missions = list(dict.fromkeys(row["mission"] for row in rows))
    seeds = min(row["seeds"] for row in rows)
    parts = [
        "# When adapting pays, and when it does not\n",
        f"All flights are simulated: {len(missions)} missions, {seeds} variants of each (times, magnitudes and gusts "
        f"drawn by number). Static suites, rekeyed every {STATIC_REKEY_S:g} s whatever happens: `{STATIC}` is "
        f"{STATIC_SUITE}, `{LEVEL5}` is {LEVEL5_SUITE}, `{HEAVY}` is {HEAVY_SUITE}. The strategies begin with the "
        f"suite of `{STATIC}`, which is their floor; `{AT_LEVEL5}` is `measured` on a drone configured with the suite "
        f"of `{LEVEL5}`. S, R and violations are those of [policy.md](policy.md). Handshake costs: "
        f"{content['handshake_costs']}. `pqcmav policy judge` makes this page. Figures are means over the variants "
        f"with their 95 % interval (t = {T_95}); differences are paired: both flew the same variant.\n",
        *([_RECORDED] if any(name in DETECTED for name in missions) else []),
        "## The answer\n",
        *(f"* {sentence}" for sentence in verdicts(rows)),
        "",
    ]
    names = list(dict.fromkeys(row["strategy"] for row in rows))
    for heading, part, measure, digits in _TABLES:
        parts += [f"## {heading}\n", _table(rows, missions, names, part, measure, digits)]
    return "\n".join(parts)


def verdicts(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the figures say, most important first."""
    names = [name for name in dict.fromkeys(row["strategy"] for row in rows) if name not in _STATICS]
    of = {(row["mission"], row["strategy"]): row for row in rows}
    missions = list(dict.fromkeys(row["mission"] for row in rows))
    sentences = [_against_level5(of, missions, [name for name in names if name != AT_LEVEL5])]
    sentences += [_plain(of, missions, other, LEVEL5) for other in (STATIC, HEAVY)]
    sentences.append(_strategy_against(of, missions, "measured", STATIC))
    if AT_LEVEL5 in names:
        sentences.append(_same(of, missions))
    sentences.append(_detected(of, [mission for mission in missions if mission in DETECTED]))
    sentences.append(_broken(of, missions, names))
    return [sentence for sentence in sentences if sentence]


_Rows = Mapping[tuple[str, str], Mapping[str, Any]]


def _gap(of: _Rows, mission: str, name: str, measure: str) -> tuple[float, int]:
    """Difference to level 5, and its sign where the interval leaves one."""
    mean, half = of[mission, name]["against_level5"][measure]
    return mean, Figure(mean, half).sign


def _against_level5(of: _Rows, missions: Sequence[str], names: Sequence[str]) -> str:
    better = [
        (mission, name)
        for mission in missions
        for name in names
        if _gap(of, mission, name, "security")[1] > 0 and _gap(of, mission, name, "security")[0] > NEGLIGIBLE
    ]
    pairs = len(missions) * len(names)
    if not better:
        return (
            f"**Against `{LEVEL5}` adapting does not pay**: in none of {pairs} pairs of mission and a strategy that "
            f"begins with the suite of `{STATIC}` is mean security higher by more than {NEGLIGIBLE:g}. If the drone "
            "can afford that suite throughout, and these drones can, it is enough."
        )
    told = ", ".join(f"`{name}` on {mission}" for mission, name in better)
    return f"**Against `{LEVEL5}` adapting pays** in {len(better)} of {pairs} pairs of mission and strategy: {told}."


def _measures(of: _Rows, mission: str, name: str, measure: str) -> tuple[float, float]:
    mean, half = of[mission, name]["measures"][measure]
    return mean, half


def _plain(of: _Rows, missions: Sequence[str], other: str, best: str) -> str:
    """What a static suite has over or under that of level 5."""
    if any((mission, other) not in of for mission in missions):
        return ""
    security = [_gap(of, mission, other, "security")[0] for mission in missions]
    broken = sum(_measures(of, mission, other, "violations")[0] for mission in missions)
    joules = [_gap(of, mission, other, "handshakes")[0] for mission in missions]
    longest = max(_measures(of, mission, other, "longest")[0] for mission in missions)
    return (
        f"`{other}` against `{best}`: security {min(security):+.3f} to {max(security):+.3f}, energy of handshakes "
        f"{min(joules):+.2f} J to {max(joules):+.2f} J, {broken:.1f} violations over a flight of each mission, the "
        f"longest handshake {longest:.1f} s on average."
    )


def _strategy_against(of: _Rows, missions: Sequence[str], name: str, other: str) -> str:
    """Where a strategy gains over a static suite: their differences to level 5 differ by more than both halves."""
    if any((mission, name) not in of for mission in missions):
        return ""
    gains = []
    for mission in missions:
        own, its = of[mission, name]["against_level5"]["security"], of[mission, other]["against_level5"]["security"]
        if own[0] - its[0] > own[1] + its[1] + NEGLIGIBLE:
            gains.append((mission, own[0] - its[0]))
    if not gains:
        return f"Against `{other}` `{name}` gains no security that the intervals tell from nothing."
    least, most = min(gain for _, gain in gains), max(gain for _, gain in gains)
    return (
        f"**Against `{other}` adapting pays**: `{name}` has {least:.2f} to {most:.2f} more mean security on "
        f"{len(gains)} of {len(missions)} missions ({', '.join(mission for mission, _ in gains)}), because it climbs "
        "to level 5 where the operator did not, and comes down in time."
    )


def _same(of: _Rows, missions: Sequence[str]) -> str:
    signed = [_gap(of, mission, AT_LEVEL5, "security")[0] for mission in missions]
    gaps = [abs(gap) for gap in signed]
    outages = [_gap(of, mission, AT_LEVEL5, "outage")[0] for mission in missions]
    return (
        f"Switched on over `{LEVEL5}`, the policy changes mean security by {max(gaps):.4f} at most and outage by "
        f"{max(map(abs, outages)):.1f} s at most: in these missions it neither gains nor costs anything."
        if max(gaps) <= NEGLIGIBLE
        else f"Switched on over `{LEVEL5}`, the policy changes mean security by {min(signed):+.4f} to "
        f"{max(signed):+.4f}."
    )


def _detected(of: _Rows, missions: Sequence[str]) -> str:
    """What the choice of a detector changes, where one really runs."""
    gaps = {name: of[name, "measured"]["against_level5"]["security"] for name in missions if (name, "measured") in of}
    if not gaps:
        return ""
    told = ", ".join(f"{gap:+.4f} ± {half:.4f} on {name}" for name, (gap, half) in gaps.items())
    told = f"With a detector that really runs, on attacks that were recorded: `measured` against `{LEVEL5}` {told}"
    if len(gaps) == 1:
        return f"{told}."
    worst, best = min(gaps, key=lambda name: gaps[name][0]), max(gaps, key=lambda name: gaps[name][0])
    apart = gaps[best][0] - gaps[worst][0] > gaps[best][1] + gaps[worst][1]
    if apart:
        return f"{told}: the intervals of {best} and {worst} lie apart."
    return f"{told}. The intervals do not tell the detectors apart: for the policy any of them will do."


def _broken(of: _Rows, missions: Sequence[str], names: Sequence[str]) -> str:
    counted = {
        name: sum(_measures(of, mission, name, "violations")[0] for mission in missions)
        for name in (*_STATICS, *names)
        if all((mission, name) in of for mission in missions)
    }
    clean = [f"`{name}`" for name, count in counted.items() if count == 0]
    others = [f"`{name}` {count:.1f}" for name, count in counted.items() if count]
    return f"Violations of the invariants over a flight of each mission: none by {', '.join(clean) or 'nobody'}" + (
        f"; {', '.join(others)}." if others else "."
    )


def _table(
    rows: Sequence[Mapping[str, Any]],
    missions: Sequence[str],
    names: Sequence[str],
    part: str,
    measure: str,
    digits: int,
) -> str:
    """One measure: a line for missions with equal figures, a column a strategy; where all are equal is told below."""
    of = {(row["mission"], row["strategy"]): row[part][measure] for row in rows}
    signed = "+" if part == "against_level5" else ""
    found: dict[tuple[str, ...], list[str]] = {}
    for mission in missions:
        figures = (of[mission, name] for name in names)
        cells = tuple(_cell(f"{mean:{signed}.{digits}f}", f"{half:.{digits}f}") for mean, half in figures)
        found.setdefault(cells, []).append(mission)
    equal = {cells[0]: where for cells, where in found.items() if len(set(cells)) == 1 and len(cells) > 1}
    shown = [(", ".join(where), *cells) for cells, where in found.items() if where not in equal.values()]
    told = "; ".join(f"{cell} on {', '.join(where)}" for cell, where in equal.items())
    made = table(("mission", *names), shown) if shown else ""
    return made + (f"{chr(10) if made else ''}The same with every strategy: {told}.\n" if told else "")


def _cell(mean: str, half: str) -> str:
    """Without an interval of no width; a mean of nothing is 0."""
    mean = mean if mean.strip("+-0.") else "0"
    return f"{mean} ± {half}" if half.strip("0.") else mean
