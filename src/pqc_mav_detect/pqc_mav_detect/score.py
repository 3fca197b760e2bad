# SPDX-License-Identifier: Apache-2.0
"""Judges a file: a recorded flight, windows of the fault laboratory, or a capture made by others."""

import csv
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from pqc_mav_detect.capture import CALM_S, COLUMNS, CaptureRules, Slot
from pqc_mav_detect.classes import Level
from pqc_mav_detect.dataset import cells_of, read_rows
from pqc_mav_detect.detector import Detector, ModelError, Opinion, Verdict
from pqc_mav_detect.detectors import RULES, make
from pqc_mav_detect.episodes import Episodes
from pqc_mav_detect.window import PERIOD_S

CALM_LABELS = ("", "0", "0.0", "normal", "benign", "none", "false")
MCAP = ".mcap"
_MOST = 1e15  # seconds, packets or bytes: sums of more are no longer exact


class ScoreError(ValueError):
    """A file that cannot be judged, in one sentence."""


@dataclass
class Alarm:
    """One time during which a class was named. `reason`: the sentence at its strongest."""

    begin_s: float
    end_s: float
    kind: str
    level: Level
    reason: str


@dataclass
class Score:
    """What one run of windows came to. Without labels there are alarms only."""

    name: str
    windows: int
    span_s: float
    alarms: list[Alarm] = field(default_factory=list)
    labelled: bool = False
    delays_s: list[float | None] = field(default_factory=list)  # of each attack; None = not named
    false_alarms: int = 0


def score(
    path: Path, normal: Path | None = None, calm_s: float = CALM_S, name: str = RULES, model: Path | None = None
) -> list[Score]:
    """Of each run in the file, or each end of a recorded flight, by the detector `name`. Raises ScoreError."""

    def detector() -> Detector:
        try:
            return make(name, model)
        except ModelError as error:
            raise ScoreError(f"{str(error)[0].upper()}{str(error)[1:]}.") from None

    if path.name.endswith((MCAP, f"{MCAP}.partial")):
        return _flight(path, detector)
    try:
        cells = _cells(path)
    except ScoreError:
        raise
    except (OSError, EOFError, ValueError, csv.Error) as error:
        raise ScoreError(f"{path} cannot be read: {error}") from None
    if cells and "opened" in cells[0] and "run" in cells[0]:
        return _windows(path, detector)
    if name != RULES:
        raise ScoreError(
            f"{path} has columns alone, and '{name}' judges by the counters of an end, as recorded flights (.mcap) and "
            f"windows of 'chaos/run record' have them: use the detector '{RULES}'."
        )
    if model:
        raise ScoreError(f"{path} has columns alone, which are compared with what is calm in them: leave out --model.")
    slots = _slots(path, cells)
    calm = slots_of(normal) if normal else [slot for slot in slots if slot.time_s - slots[0].time_s < calm_s]
    _alike(path, slots[0 if normal else len(calm) :], normal or path, calm)
    try:
        rules = CaptureRules(calm)
    except ValueError as error:
        raise ScoreError(f"{path}: {error}.") from None
    begin = 0 if normal else len(calm)
    if begin == len(slots):
        raise ScoreError(
            f"{path} has nothing after its first {calm_s:g} s, which are taken to be calm (--calm, --normal)."
        )
    steps = [(slot.time_s, slot.label, slot) for slot in slots[begin:]]
    spans = [PERIOD_S, *(b.time_s - a.time_s for a, b in zip(slots[begin:], slots[begin + 1 :], strict=False))]
    turns = iter(spans)
    return [_judge(path.name, steps, lambda slot: rules.update(slot, next(turns)), any(slot.label for slot in slots))]


def _alike(path: Path, slots: Sequence[Slot], calm_path: Path, calm: Sequence[Slot]) -> None:
    """What is calm and what is judged have to tell the same."""
    for column in COLUMNS:
        usual, judged = (any(getattr(slot, column) is not None for slot in each) for each in (calm, slots))
        if slots and usual != judged:
            lacks, has = (path, calm_path) if usual else (calm_path, path)
            when = "while it is calm" if usual else "after its calm beginning"
            where = (
                f"{path} has {column} only {when}" if path == calm_path else f"{lacks} lacks {column}, which {has} has"
            )
            raise ScoreError(f"{where}: compare captures with the same columns.")


def _flight(path: Path, detector: Callable[[], Detector]) -> list[Score]:
    try:
        from pqc_mav_detect.flight import read

        ends, problem = read(path)
    except ImportError as error:
        raise ScoreError(f"A recorded flight needs the Python package {error.name}.") from None
    except ValueError as error:
        raise ScoreError(str(error)) from None
    part = ", as far as it can be read" if problem else ""
    steps = {end: [(window.time_s, "", window) for window in windows] for end, windows in ends.items()}
    return [_judge(f"{path.name} {end}{part}", each, detector().update, False) for end, each in steps.items()]


def slots_of(path: Path) -> list[Slot]:
    """The windows of a capture. Raises ScoreError."""
    return _slots(path, _cells(path))


def _windows(path: Path, detector: Callable[[], Detector]) -> list[Score]:
    try:
        runs = read_rows(path)
    except ModelError as error:
        raise ScoreError(f"{error}.") from None
    found = []
    for (run, end), rows in runs.items():
        steps = [(row.window.time_s, row.episode, row.window) for row in rows]
        found.append(_judge(f"{run} {end}", steps, detector().update, True))
    return found


def _judge(
    name: str, steps: Sequence[tuple[float, str, Any]], update: Callable[[Any], Opinion], labelled: bool
) -> Score:
    episodes = Episodes()
    made = Score(name, len(steps), steps[-1][0] - steps[0][0] if steps else 0.0, labelled=labelled)
    attacks: list[tuple[float, float]] = []
    under_way = False
    for time_s, label, what in steps:
        attack = label.strip().lower() not in CALM_LABELS
        if attack and not under_way:
            attacks.append((time_s, time_s))
        elif attack:
            attacks[-1] = (attacks[-1][0], time_s)
        under_way = attack
        _note(made.alarms, episodes.update(update(what), time_s), time_s)
    if labelled:
        for begin_s, end_s in attacks:
            seen = [alarm.begin_s for alarm in made.alarms if begin_s <= alarm.end_s and alarm.begin_s <= end_s]
            made.delays_s.append(max(0.0, min(seen) - begin_s) if seen else None)
        made.false_alarms = sum(
            not any(begin_s <= alarm.end_s and alarm.begin_s <= end_s for begin_s, end_s in attacks)
            for alarm in made.alarms
        )
    return made


def _note(alarms: list[Alarm], verdict: Verdict, time_s: float) -> None:
    if verdict.level is Level.NONE:
        return
    last = alarms[-1] if alarms else None
    if last is None or last.kind != verdict.kind or time_s - last.end_s > 5 * PERIOD_S:
        alarms.append(Alarm(time_s, time_s, verdict.kind, verdict.level, verdict.reason))
        return
    last.end_s = time_s
    if verdict.level > last.level:
        last.level, last.reason = verdict.level, verdict.reason


def _cells(path: Path) -> list[Mapping[str, Any]]:
    try:
        return list(cells_of(path))
    except ImportError:
        raise ScoreError("Parquet needs the Python package pyarrow; CSV works without it.") from None


def _slots(path: Path, cells: Sequence[Mapping[str, Any]]) -> list[Slot]:
    if not cells:
        raise ScoreError(f"{path} has no rows.")
    if not any(name in cells[0] for name in COLUMNS):
        raise ScoreError(f"{path} has none of the columns {', '.join(COLUMNS)}.")

    def number(row: Mapping[str, Any], name: str) -> float | None:
        text = row.get(name)
        try:
            value = math.nan if text is None or text == "" else float(text)
        except ValueError:
            raise ScoreError(f"{path}: {name} is '{text}', which is no number.") from None
        if not (math.isnan(value) or (abs(value) <= _MOST and (value >= 0 or name == "time_s"))):
            raise ScoreError(f"{path}: {name} is '{text}', which no window has.")
        return None if math.isnan(value) else value

    found: list[Slot] = []
    for index, row in enumerate(cells):
        time_s = number(row, "time_s")
        time_s = index * PERIOD_S if time_s is None else time_s
        if found and time_s <= found[-1].time_s:
            raise ScoreError(f"{path}: time_s does not grow at row {index + 2}.")
        packets, bytes_, mavlink = (number(row, name) for name in COLUMNS)
        found.append(Slot(time_s, packets, bytes_, mavlink, str(row.get("label") or "")))
    step_s = statistics.median(b.time_s - a.time_s for a, b in pairwise(found)) if len(found) > 1 else PERIOD_S
    if not PERIOD_S / 2 <= step_s <= 2 * PERIOD_S:
        raise ScoreError(f"{path} has a row each {step_s:g} s; a capture has one each {PERIOD_S:g} s.")
    return found
