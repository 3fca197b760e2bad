# SPDX-License-Identifier: Apache-2.0
"""Runs a detector over recordings: when each attack was named, and what was named where nothing was done. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pqc_mav_detect.classes import BLACKOUT, ON_PATH, Level
from pqc_mav_detect.dataset import Row, stood_still
from pqc_mav_detect.detector import Detector
from pqc_mav_detect.episodes import Episodes
from pqc_mav_detect.evaluation.trivial import Trivial
from pqc_mav_detect.examples import AFTER_S
from pqc_mav_detect.learned import NORMAL, OUTPUTS
from pqc_mav_detect.window import PERIOD_S

SLOW = ("2", "6")
CHANGING = ("random", "bursts")
LINK = (ON_PATH, BLACKOUT)
WITHIN_S = {ON_PATH: 4.0, BLACKOUT: 1.0}
FAST_S, SLOW_S = 1.0, 5.0
CALM_S = 3.0  # before each attack, of a detector that still speaks of the one before
ANY = "attack"  # what a rule that knows no classes says


@dataclass(frozen=True)
class Trial:
    """One attack at one end. `delay_s`: until its class was named; None = not."""

    run: str
    end: str
    kind: str
    delay_s: float | None

    @property
    def what(self) -> str:
        """The attack."""
        return self.run.split()[-1].partition("@")[0]

    @property
    def rate(self) -> str:
        """Its rate or grade."""
        return self.run.partition("@")[2]

    @property
    def group(self) -> str:
        """What it is counted with: its class, and how fast it is."""
        return f"{self.kind} {speed(self.kind, self.rate)}".strip()


def speed(kind: str, rate: str) -> str:
    """Slow, fast or changing; nothing for what happens to the link."""
    if kind in LINK:
        return ""
    return "2-10/s" if rate in SLOW else "changing" if rate in CHANGING else ">= 20/s"


def allowed_s(kind: str, rate: str) -> float:
    """How soon it has to be named."""
    return WITHIN_S.get(kind, SLOW_S if speed(kind, rate) == "2-10/s" else FAST_S)


@dataclass
class Judged:
    """What a detector made of some recordings."""

    trials: list[Trial] = field(default_factory=list)
    false_alarms: list[tuple[str, str, str, Level]] = field(default_factory=list)  # run, end, class, level
    seconds: float = 0.0
    runs: dict[str, Level] = field(default_factory=dict)  # disturbance and end -> the most that was said
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)  # truth, said
    stood: set[str] = field(
        default_factory=set
    )  # recordings and runs in which the machine of the recording stood still

    @property
    def hours(self) -> float:
        """Of all ends together."""
        return self.seconds / 3600

    def first(self) -> list[Trial]:
        """Of each attack the end that named it first."""
        found: dict[str, Trial] = {}
        for trial in self.trials:
            old = found.get(trial.run)
            if old is None or (trial.delay_s is not None and (old.delay_s is None or trial.delay_s < old.delay_s)):
                found[trial.run] = trial
        return list(found.values())


def judge(recordings: Iterable[tuple[str, Sequence[Row]]], make: Callable[[], Detector | Trivial]) -> Judged:
    """Let a fresh detector judge each recording: (name of the recording, rows of one end in order of time)."""
    found = Judged()
    for name, rows in recordings:
        _one(name, rows, make(), found)
    return found


def merged(parts: Iterable[Judged]) -> Judged:
    """All of them together."""
    found = Judged()
    for part in parts:
        found.trials += part.trials
        found.false_alarms += part.false_alarms
        found.seconds += part.seconds
        found.runs |= part.runs
        found.confusion += part.confusion
        found.stood |= part.stood
    return found


def _one(name: str, rows: Sequence[Row], detector: Detector | Trivial, found: Judged) -> None:
    episodes = Episodes()
    said: list[tuple[str, Level]] = []
    anew = _begins(rows)
    for index, row in enumerate(rows):
        if index in anew and said[-1][0]:  # the alarm of the attack before must not pass for this one's
            detector.reset()
            episodes = Episodes()
        if isinstance(detector, Trivial):
            said.append((ANY, Level.ATTACK) if detector.update(row.window) else ("", Level.NONE))
        else:
            verdict = episodes.update(detector.update(row.window), row.window.time_s)
            said.append((verdict.kind, verdict.level))
    found.seconds += sum(row.window.span_s for row in rows)
    stood = stood_still(rows)
    before, over_s = "", -AFTER_S
    for (run, end), at in _by_run(rows).items():
        attacked = [index for index in at if rows[index].episode]
        if any(stood[index] for index in attacked or at):
            found.stood.add(f"{name} {run}")
        if attacked:
            found.trials.append(_trial(f"{name} {run}", end, rows, said, attacked))
            _count(found.confusion, rows, said, at, attacked, over_s)
            over_s = rows[attacked[-1]].window.time_s
        most, alarm = Level.NONE, bool(before)  # what began before this run does not count
        for index in at:
            kind, level = said[index]
            if kind and not before:
                alarm = False
                found.false_alarms += [] if attacked else [(f"{name} {run}", end, kind, level)]
            most = max(most, Level.NONE if alarm else level)
            before = kind
        found.runs[f"{name} {run} {end}"] = most


def _begins(rows: Sequence[Row]) -> set[int]:
    """The windows so long before each attack."""
    found, before = set(), ""
    for index, row in enumerate(rows):
        if row.episode and not before:
            found.add(max(1, index - round(CALM_S / PERIOD_S)))
        before = row.episode
    return found


def _by_run(rows: Sequence[Row]) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for index, row in enumerate(rows):
        found.setdefault((row.run, row.end), []).append(index)
    return found


def _trial(
    run: str, end: str, rows: Sequence[Row], said: Sequence[tuple[str, Level]], attacked: Sequence[int]
) -> Trial:
    kind = rows[attacked[0]].episode
    first = next((index for index in attacked if rows[index].label), attacked[0])
    begun_s = rows[first].window.time_s - rows[first].window.span_s

    named = (rows[i].window.time_s - begun_s for i in attacked if i >= first and said[i][0] in (kind, ANY))
    return Trial(run, end, kind, next(named, None))


def _count(
    confusion: Counter[tuple[str, str]],
    rows: Sequence[Row],
    said: Sequence[tuple[str, Level]],
    at: Sequence[int],
    attacked: Sequence[int],
    last_s: float,
) -> None:
    """Windows of a run with an attack, without those in which it need not be named yet or its figures still show."""
    kind, rate = rows[attacked[0]].episode, rows[attacked[0]].run.partition("@")[2]
    begun_s, over_s = rows[attacked[0]].window.time_s, rows[attacked[-1]].window.time_s
    for index in at:
        now_s = rows[index].window.time_s
        if begun_s <= now_s <= over_s:
            if now_s - begun_s > allowed_s(kind, rate):
                confusion[kind, said[index][0] or NORMAL] += 1
        elif last_s + AFTER_S < now_s < begun_s or now_s - over_s > AFTER_S:
            confusion[NORMAL, said[index][0] or NORMAL] += 1


def macro_f1(confusion: Counter[tuple[str, str]]) -> tuple[float, dict[str, float]]:
    """The mean over the classes, normal among them, and each."""
    found = {}
    for kind in OUTPUTS:
        right = confusion[kind, kind]
        truth = sum(count for (was, _), count in confusion.items() if was == kind)
        told = sum(count for (_, said), count in confusion.items() if said == kind)
        if truth:
            found[kind] = 2 * right / (truth + told)
    return (sum(found.values()) / len(found) if found else 0.0), found


def binary_f1(confusion: Counter[tuple[str, str]]) -> float:
    """Of attack against none, whatever the class."""
    right = sum(count for (was, said), count in confusion.items() if NORMAL not in (was, said))
    wrong = sum(count for (was, said), count in confusion.items() if (was == NORMAL) != (said == NORMAL))
    return 2 * right / (2 * right + wrong) if right else 0.0
