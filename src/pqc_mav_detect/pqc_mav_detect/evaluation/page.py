# SPDX-License-Identifier: Apache-2.0
"""The page about what the detectors are worth: goals first, and which of them are missed. Pure."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pqc_mav_common.markdown import table
from pqc_mav_detect.classes import BLACKOUT, FLOOD, FORGERY, HANDSHAKE_FLOOD, ON_PATH, REPLAY, VOLUMETRIC, Level
from pqc_mav_detect.detectors import RULES, XGBOOST
from pqc_mav_detect.evaluation.cost import Cost
from pqc_mav_detect.evaluation.figures import most_per_hour, quantile, wilson
from pqc_mav_detect.evaluation.trials import Judged, Trial, allowed_s, binary_f1, macro_f1, speed
from pqc_mav_detect.learned import OUTPUTS

SENT = (FLOOD, REPLAY, FORGERY, HANDSHAKE_FLOOD, VOLUMETRIC)
MOST_CPU, MOST_MIB, MOST_TST_CPU = 0.5, 45.0, 3.0
LEAST_SHARE, LEAST_F1, MOST_DISTURBED = 0.95, 0.85, 0.05
CAPTURE_S, TCP_CAPTURE_S = 1.0, 4.0
# What others published, or a prototype showed, with other recordings on other machines.
BEFORE = {
    "attacks of 20/s and more": "F1 .03-.97",
    "attacks of 2-10/s": "missed",
    "false alarms": "285-777/h",
    "macro F1": ".78",
    "cost": "one verdict in 240 s, 5 MB (tst)",
    "captures": "F1 .60-.99, 0 of slow ones",
}


@dataclass
class Result:
    """Of one detector. `attacks`: tools and intensities of the training, other seeds; `unseen`: neither."""

    name: str
    attacks: Judged
    unseen: Judged
    normal: Judged
    benign: Judged
    cost: Cost | None = None
    note: str = ""


@dataclass
class Capture:
    """A capture. `delays_s`: of each attack in it, None = not named; `trivial`: of trivial rules, and false ones."""

    name: str
    seconds: float
    delays_s: Sequence[float | None]
    false_alarms: int
    trivial: Mapping[str, tuple[Sequence[float | None], int]] = field(default_factory=dict)


def seconds(value: float) -> str:
    """Of a delay."""
    return "-" if math.isnan(value) else "not named" if math.isinf(value) else f"{value:.1f} s"


def _in_time(trials: Sequence[Trial]) -> tuple[int, int]:
    return sum(each.delay_s is not None and each.delay_s <= allowed_s(each.kind, each.rate) for each in trials), len(
        trials
    )


def share(hits: int, trials: int) -> str:
    """With its interval."""
    if not trials:
        return "-"
    low, high = wilson(hits, trials)
    return f"{100 * hits / trials:.0f} % ({hits}/{trials}; {100 * low:.0f}-{100 * high:.0f} %)"


def in_time_only(result: Result) -> Result:
    """Without attacks and disturbances in which, or up to 10 s before which, the recording's machine stood still."""

    def kept(judged: Judged) -> Judged:
        trials = [each for each in judged.trials if each.run not in judged.stood]
        runs = {name: level for name, level in judged.runs.items() if name.rpartition(" ")[0] not in judged.stood}
        return replace(judged, trials=trials, runs=runs)

    return replace(result, attacks=kept(result.attacks), unseen=kept(result.unseen), benign=kept(result.benign))


def _goal(result: Result, keep: Callable[[Trial], bool]) -> tuple[str, bool]:
    hits, trials = _in_time([each for each in result.attacks.first() + result.unseen.first() if keep(each)])
    return share(hits, trials), trials > 0 and hits >= LEAST_SHARE * trials


def _goals(result: Result) -> list[tuple[str, str, bool]]:
    """Each goal: in words, what was found, whether it is met."""

    def sent(which: str) -> Callable[[Trial], bool]:
        return lambda each: each.kind in SENT and speed(each.kind, each.rate) == which

    found = [
        ("attacks of 20/s and more: 95 % of episodes named <= 1 s", *_goal(result, sent(">= 20/s"))),
        ("attacks of changing rate and bursts: 95 % <= 1 s", *_goal(result, sent("changing"))),
        ("attacks of 2-10/s: 95 % <= 5 s", *_goal(result, sent("2-10/s"))),
        ("on the path: 95 % <= 4 s", *_goal(result, lambda each: each.kind == ON_PATH)),
        ("blackout: 95 % <= 1 s", *_goal(result, lambda each: each.kind == BLACKOUT)),
    ]
    false, hours = len(result.normal.false_alarms), result.normal.hours
    rate = false / hours if hours else math.nan
    words = f"{false} in {hours:.1f} h ({rate:.2f}/h; < {most_per_hour(false, hours):.2f}/h)"
    found.append(("false alarms: <= 1/h, none in 3 h of normal traffic", words, not false and hours >= 3))
    whole = len(result.benign.runs)
    for words, least in (("called an attack", Level.ATTACK), ("suspected or called an attack", Level.SUSPICIOUS)):
        disturbed = sum(level >= least for level in result.benign.runs.values())
        words = f"disturbances without an attacker {words}: <= 5 % of episodes"
        found.append((words, share(disturbed, whole), disturbed <= MOST_DISTURBED * whole))
    f1 = macro_f1(result.unseen.confusion)[0]
    found.append(("macro F1, unseen tools and intensities: >= 0.85", f"{f1:.3f}", f1 >= LEAST_F1))
    if result.cost:
        cost = result.cost
        words = f"{cost.cpu_percent:.2f} % of a core, {cost.memory_mib:.0f} MiB"
        on_ground = result.name.startswith("tst")
        met = (
            cost.cpu_percent <= MOST_TST_CPU
            if on_ground
            else cost.cpu_percent <= MOST_CPU and cost.memory_mib <= MOST_MIB
        )
        found.append(("cost: <= 0.5 % and 45 MB (tst: <= 3 %)", words, met))
    return found


def _said(words: str, met: bool) -> str:
    return f"{words}: {'met' if met else '**missed**'}"


def goals(results: Sequence[Result], found: Sequence[Capture] = ()) -> str:
    """The table of the goals. `found`: captures, which the first detector's rules judged."""
    columns = [_goals(each) for each in results]
    rows = []
    longest = max((len(column) for column in columns), default=0)
    for index, (words, _, _) in enumerate(next((column for column in columns if len(column) == longest), [])):
        cells = [column[index] if index < len(column) else None for column in columns]
        rows.append([words, *(_said(*cell[1:]) if cell else "-" for cell in cells)])
    if found:
        words = "captures: every attack <= 1 s (floods of TCP <= 4 s), no false alarm"
        rows.append([words, *(_said(*_captured(found)) if not index else "-" for index in range(len(results)))])
    before = [next((text for start, text in BEFORE.items() if row[0].startswith(start)), "-") for row in rows]
    rows = [[row[0], earlier, *row[1:]] for row, earlier in zip(rows, before, strict=True)]
    return table(["goal", "published or prototype, not measured here", *(each.name for each in results)], rows)


def without_these(results: Sequence[Result]) -> str:
    """Which goals are met, and which are not, otherwise than by all recordings, where the machine kept time."""
    changed = []
    for result in results:
        changed += [
            f"{result.name}, {words}: {_said(found, met)}"
            for (words, found, met), (_, _, before) in zip(_goals(in_time_only(result)), _goals(result), strict=True)
            if met != before
        ]
    return f"Without them: {'; '.join(changed)}." if changed else "Without them each goal comes out the same."


def _captured(found: Sequence[Capture]) -> tuple[str, bool]:
    """Of all captures together: in words, and whether the goal is met."""
    every = [
        (delay, TCP_CAPTURE_S if each.name.startswith("tcp") else CAPTURE_S)
        for each in found
        for delay in each.delays_s
    ]
    hits = sum(delay is not None and delay <= allowed for delay, allowed in every)
    false = sum(each.false_alarms for each in found)
    return f"{hits}/{len(every)}, {false} false alarms", hits == len(every) > 0 and not false


def delays(results: Sequence[Result], which: Callable[[Result], Judged]) -> str:
    """How soon each class was named."""
    groups: dict[str, dict[str, list[Trial]]] = {}
    for result in results:
        for trial in which(result).first():
            groups.setdefault(trial.group, {}).setdefault(result.name, []).append(trial)
    rows = []
    for group in sorted(groups):
        cells = []
        for result in results:
            trials = groups[group].get(result.name, [])
            hits, _ = _in_time(trials)
            values = [each.delay_s for each in trials]
            words = f"{hits}/{len(trials)}; {seconds(quantile(values, 0.5))}, {seconds(quantile(values, 0.95))}"
            cells.append(words if trials else "-")
        rows.append([group, *cells])
    return table(["class and rate", *(f"{each.name}: in time; p50, p95" for each in results)], rows)


def missed(results: Sequence[Result]) -> str:
    """Which attacks were not named in time, by attack and rate."""
    rows = []
    for result in results:
        found: dict[str, list[int]] = {}
        for each in result.attacks.first() + result.unseen.first():
            count = found.setdefault(f"{each.what}@{each.rate}", [0, 0])
            count[0] += each.delay_s is None or each.delay_s > allowed_s(each.kind, each.rate)
            count[1] += 1
        late = [f"{name} {count[0]}/{count[1]}" for name, count in sorted(found.items()) if count[0]]
        rows.append([result.name, ", ".join(late) or "none"])
    return table(["detector", "late or not at all (episodes)"], rows)


def scores(results: Sequence[Result]) -> str:
    """F1 of each class, of unseen tools and rates / of those of the training."""
    both = [[each.unseen.confusion, each.attacks.confusion] for each in results]
    found = [[macro_f1(confusion) for confusion in pair] for pair in both]
    rows = [["**macro**", *(f"**{_pair(mean for mean, _ in pair)}**" for pair in found)]]
    rows += [[kind, *(_pair(of.get(kind, math.nan) for _, of in pair) for pair in found)] for kind in OUTPUTS]
    rows.append(["attack or not, whatever class", *(_pair(map(binary_f1, pair)) for pair in both)])
    return table(["class", *(each.name for each in results)], rows)


def _pair(values: Iterable[float]) -> str:
    return " / ".join(f"{value:.3f}" for value in values)


def alarms(results: Sequence[Result]) -> str:
    """What was said in normal traffic."""
    rows = []
    for each in results:
        normal, hours = each.normal, each.normal.hours
        sure = sum(level is Level.ATTACK for *_, level in normal.false_alarms)
        kinds = sorted({kind for _, _, kind, _ in normal.false_alarms})
        count = len(normal.false_alarms)
        rate = f"{count / hours:.2f}" if hours else "-"
        rows.append(
            [each.name, f"{hours:.2f}", count, sure, rate, f"{most_per_hour(count, hours):.2f}", ", ".join(kinds)]
        )
    return table(["detector", "hours", "alarms", "of them sure", "per hour", "< (95 %)", "classes"], rows)


def disturbances(results: Sequence[Result]) -> str:
    """What was said of disturbances without an attacker; those of which the same was said are one row."""
    names = sorted({run.split()[-2].partition("@")[0] for each in results for run in each.benign.runs})
    rows: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        cells = []
        for each in results:
            runs = [said for run, said in each.benign.runs.items() if f" {name}@" in run]
            told = [alarm for alarm in each.benign.false_alarms if f" {name}@" in alarm[0]]
            sure = sum(level is Level.ATTACK for level in runs)
            kinds = ", ".join(sorted({kind for _, _, kind, _ in told}))
            cells.append(f"{sum(map(bool, runs))}/{len(runs)}{f' ({kinds}; {sure} sure)' if told else ''}")
        rows.setdefault(tuple(cells), []).append(name)
    return table(
        ["disturbance", *(each.name for each in results)], [[", ".join(same), *cells] for cells, same in rows.items()]
    )


def costs(results: Sequence[Result]) -> str:
    """CPU and memory."""
    rows = [
        [each.name, f"{each.cost.call_ms:.2f} ms", f"{each.cost.cpu_percent:.2f} %", f"{each.cost.memory_mib:.0f} MiB"]
        for each in results
        if each.cost
    ]
    return table(["detector", "one window, sampling included", "of a core at 10/s", "memory without ROS"], rows)


def together(results: Sequence[Result]) -> str:
    """What the detectors that fly cost where both run: one sentence, or nothing where one was not measured."""
    costs = {each.name: each.cost for each in results}
    rules, trees = costs.get(RULES), costs.get(XGBOOST)
    if not rules or not trees:
        return ""
    memory = rules.memory_mib + trees.memory_mib - rules.idle_mib
    return (
        f"Rules and trees in one process: {rules.cpu_percent + trees.cpu_percent:.2f} % of a core and {memory:.0f} MiB "
        "at most, the sampling counted twice (goal: 0.5 % and 45 MB).\n"
    )


def captures(found: Sequence[Capture]) -> str:
    """What was made of captures."""
    names = list(found[0].trivial) if found else []

    def cell(delays_s: Sequence[float | None], false_alarms: int) -> str:
        named = [each for each in delays_s if each is not None]
        words = f"{len(named)}/{len(delays_s)}" + (f", {max(named):.1f} s at most" if named else "")
        return f"{words}; {false_alarms} false"

    rows = [
        [
            each.name,
            f"{each.seconds:.0f} s",
            cell(each.delays_s, each.false_alarms),
            *(cell(*each.trivial[n]) for n in names),
        ]
        for each in found
    ]
    return table(["capture", "length", "rules: named; false alarms", *names], rows)
