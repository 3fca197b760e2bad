# SPDX-License-Identifier: Apache-2.0
"""Flights under attacks that the fault laboratory recorded, with a detector that really runs over their windows.

Each flight meets ATTACKS recordings that no threshold and no model was made with (`test-unseen-320` of
docs/detection.md, the end where the stranger is): 3 s of quiet, an attack of 8 s at most, 2 s of quiet. The
variant's number draws which ones, the same for every detector. The strategies hear what the detector says; security is
weighted by what the attacker did. Battery, temperature and the rest of the flight are simulated.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from pqc_mav_detect import detectors
from pqc_mav_detect.dataset import Row, read_rows
from pqc_mav_detect.detector import ModelError, Verdict
from pqc_mav_detect.episodes import Episodes
from pqc_mav_policy.telemetry.inputs import Threat
from pqc_mav_policy_lab.flight_model.conditions import CPU_BASELINE, Conditions
from pqc_mav_policy_lab.missions import simulated
from pqc_mav_policy_lab.missions.simulated import Mission, MissionError

RECORDINGS = Path(__file__).with_name("attacks.csv.gz")
PREFIX = "attacked-"
NAMES = tuple(PREFIX + name for name in detectors.NAMES)
ATTACKS = 8
# From one to the next on average, and how far each may come later, so that attacks do not keep time with renewals.
EVERY_S = 62
SHIFT_S = 40
FIRST_S = simulated.GROUND_S + simulated.TAKEOFF_S
SILENT_S = 1.0  # nothing came in this second
# Of the 9 s of quiet before each: in the first, figures over 5 s still show the attack that was recorded before it.
LEFT_OUT_S = 6.0


@dataclass(frozen=True)
class Moment:
    """A second of a recording: what the detector said at its end, and what there was."""

    verdict: Verdict
    attacked: bool
    silent: bool
    loss: float
    delay_s: float


@lru_cache(maxsize=1)
def recordings() -> tuple[tuple[Row, ...], ...]:
    """The attacks, in the order in which they were recorded."""
    return tuple(_clean(rows) for rows in read_rows(RECORDINGS).values())


def _clean(rows: Sequence[Row]) -> tuple[Row, ...]:
    begun_s = rows[0].window.time_s + LEFT_OUT_S
    return tuple(row for row in rows if row.window.time_s >= begun_s)


@cache
def played(number: int, name: str) -> tuple[Moment, ...]:
    """A recording, second by second, as a detector that has just begun sees it. Raises MissionError: cannot be run."""
    try:
        detector = detectors.make(name)
    except ModelError as error:
        raise MissionError(f"Mission {PREFIX}{name} cannot be flown: {error}.") from None
    episodes, rows = Episodes(), recordings()[number]
    seconds: dict[int, Moment] = {}
    for row in rows:
        at = int(row.window.time_s - rows[0].window.time_s)
        verdict = episodes.update(detector.update(row.window), row.window.time_s)
        seconds[at] = _moment(row, verdict, attacked=bool(row.episode) or (at in seconds and seconds[at].attacked))
    return tuple(seconds.values())


def _moment(row: Row, verdict: Verdict, attacked: bool) -> Moment:
    values = row.window.values
    loss = min(1.0, max(values["loss_here"], values["loss_there"]))
    return Moment(verdict, attacked, values["silence"] >= SILENT_S, loss, values["delay"] / 1e3)


def mission(name: str, variant: int = 0) -> Mission:
    """Any mission of this package by name, with a detector or without. Raises MissionError for an unknown name."""
    if name not in NAMES:
        return simulated.mission(name, variant)
    detector = name.removeprefix(PREFIX)
    draw = random.Random(f"{PREFIX}{variant}")
    seconds = [replace(each, cpu_percent=CPU_BASELINE) for each in simulated.calm(draw)]
    for place, number in enumerate(draw.sample(range(len(recordings())), ATTACKS)):
        begin = FIRST_S + place * EVERY_S + draw.randrange(SHIFT_S)
        for second, moment in enumerate(played(number, detector), begin):
            seconds[second] = _with(seconds[second], moment)
    said = f"ten minutes, {ATTACKS} recorded attacks, judged by the detector {detector}"
    return Mission(name, said, tuple(seconds), variant=variant)


def _with(before: Conditions, moment: Moment) -> Conditions:
    verdict = moment.verdict
    return replace(
        before,
        loss=max(before.loss, moment.loss),
        rtt_s=before.rtt_s + moment.delay_s,
        silent=moment.silent,
        threat=Threat(int(verdict.level)),
        threat_kind=verdict.kind,
        threat_response=verdict.response,
        attacked=moment.attacked,
    )
