# SPDX-License-Identifier: Apache-2.0
"""The rules against attacks that the fault laboratory recorded, at 20 datagrams/s or in one grade, and disturbances.

Of the data set's parts `train-attacks-100` and `train-benign-100`: the seconds around each attack, rounded.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pqc_mav_detect.classes import BLACKOUT, CLASSES, ON_PATH, VOLUMETRIC, Level
from pqc_mav_detect.dataset import Row, read_rows
from pqc_mav_detect.episodes import Episodes
from pqc_mav_detect.rules.detector import Rules
from pqc_mav_detect.score import score

FILE = Path(__file__).parent / "recorded.csv.gz"
RUNS = read_rows(FILE)
WITHIN_S = {ON_PATH: 4.0, BLACKOUT: 1.3, VOLUMETRIC: 1.1}  # others 1 s; a drone is heard less often than a gcs


@pytest.mark.parametrize("rows", RUNS.values(), ids=[" ".join(key).replace(" ", "-") for key in RUNS])
def test_what_was_done_is_named_in_time_and_nothing_else(rows: list[Row]) -> None:
    rules, episodes = Rules(), Episodes()
    begun_s = next((row.window.time_s for row in rows if row.episode), None)
    kind = next((row.episode for row in rows if row.episode), "")
    named_s = None
    for row in rows:
        verdict = episodes.update(rules.update(row.window), row.window.time_s)
        if verdict.level is Level.ATTACK:
            assert verdict.kind == kind, verdict
        if verdict.kind and verdict.kind == kind and named_s is None:
            named_s = row.window.time_s
        assert not verdict.kind or begun_s is not None, verdict
    if begun_s is None:
        assert named_s is None
    else:
        assert named_s is not None and named_s - begun_s <= WITHIN_S.get(kind, 1.0)


def test_every_class_is_recorded() -> None:
    assert {row.episode for rows in RUNS.values() for row in rows} == {"", *CLASSES}


def test_a_slow_attack_leaves_most_windows_without_a_label() -> None:
    rows = [row for row in RUNS["100/s forge@20", "gcs"] if row.episode]
    assert 0.5 < sum(bool(row.label) for row in rows) / len(rows) <= 1.0


def test_the_score_of_the_file() -> None:
    found = {each.name: each for each in score(FILE)}
    attacked = [each for each in found.values() if each.delays_s]
    assert len(found) == 22 and len(attacked) == 18
    assert all(None not in each.delays_s for each in attacked)
