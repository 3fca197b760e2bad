# SPDX-License-Identifier: Apache-2.0
"""Flights under recorded attacks: what the detector says is its own, and the same attacks meet every detector."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from pqc_mav_detect import detectors
from pqc_mav_detect.classes import CLASSES
from pqc_mav_detect.detector import ModelError, Opinion
from pqc_mav_policy.settings import make
from pqc_mav_policy.telemetry.inputs import Phase, Threat
from pqc_mav_policy_lab.compare.variants import Variant
from pqc_mav_policy_lab.flight_model.conditions import Conditions
from pqc_mav_policy_lab.missions import simulated
from pqc_mav_policy_lab.missions.attacked import ATTACKS, RECORDINGS, mission, played, recordings
from pqc_mav_policy_lab.missions.simulated import MissionError

RULES = "attacked-rules"


def episodes(seconds: tuple[Conditions, ...]) -> list[tuple[int, int]]:
    """First second of each attack, and the one after its last."""
    edges = [i for i in range(1, len(seconds)) if bool(seconds[i].attacked) != bool(seconds[i - 1].attacked)]
    return list(zip(edges[::2], edges[1::2], strict=True))


def test_every_recording_is_an_attack_that_begins_in_quiet() -> None:
    assert RECORDINGS.stat().st_size < 200_000
    assert len(recordings()) == 34
    assert {next(row.episode for row in rows if row.episode) for rows in recordings()} == set(CLASSES)
    for rows in recordings():
        assert not any(row.episode for row in rows[:29])
        assert {row.end for row in rows} == {"gcs"}


@pytest.mark.parametrize("variant", [1, 7, 30])
def test_a_flight_meets_its_attacks_one_after_another_in_the_air(variant: int) -> None:
    flight = mission(RULES, variant).conditions
    found = episodes(flight)
    assert len(found) == ATTACKS
    assert all(1 <= end - begin <= 10 for begin, end in found)
    begun = [begin for begin, _ in found]
    assert all(later - sooner >= 20 for sooner, later in pairwise(begun))
    airborne = {Phase.TAKEOFF, Phase.CRUISE, Phase.HOVER}
    assert {flight[second].phase for begin, end in found for second in range(begin, end)} <= airborne


def test_the_same_variant_is_the_same_flight_and_another_one_another() -> None:
    assert mission(RULES, 3) == mission(RULES, 3)
    assert mission(RULES, 3).conditions != mission(RULES, 4).conditions


def test_every_detector_meets_the_same_attacks_and_speaks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    rules, trees = mission(RULES, 5).conditions, mission("attacked-xgboost", 5).conditions
    assert [each.attacked for each in rules] == [each.attacked for each in trees]
    assert [each.loss for each in rules] == [each.loss for each in trees]

    class Mute:
        source = "mute"

        def update(self, _window: object) -> Opinion:
            return Opinion()

    monkeypatch.setattr(detectors, "make", lambda _name: Mute())
    played.cache_clear()
    silent = mission(RULES, 5).conditions
    played.cache_clear()
    assert [each.attacked for each in silent] == [each.attacked for each in rules]
    assert {each.threat for each in silent} == {Threat.NONE}
    assert any(each.danger is Threat.ATTACK for each in silent), "what the attacker did does not depend on who saw it"


@pytest.mark.parametrize("name", ["rules", "xgboost"])
def test_the_detectors_name_nearly_all_of_it_and_nothing_before(name: str) -> None:
    said: Counter[bool] = Counter()
    for number, rows in enumerate(recordings()):
        kind = next(row.episode for row in rows if row.episode)
        moments = played(number, name)
        begun = next(second for second, moment in enumerate(moments) if moment.attacked)
        assert not any(moment.verdict.level for moment in moments[: begun - 1]), "an alarm before the attack"
        said[any(moment.verdict.kind == kind for moment in moments[begun:])] += 1
    assert said[True] >= 33


def test_all_other_missions_are_those_without_a_detector() -> None:
    assert mission("hot", 2) == simulated.mission("hot", 2)
    assert all(each.attacked is None and each.danger is each.threat for each in mission("attack", 1).conditions)
    with pytest.raises(MissionError, match="is not a mission"):
        mission("attacked-moon")


def test_a_detector_that_cannot_be_run_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> None:
        raise ModelError("the detector 'tst' needs ONNX Runtime")

    monkeypatch.setattr(detectors, "make", missing)
    played.cache_clear()
    with pytest.raises(MissionError, match="attacked-tst cannot be flown: the detector 'tst' needs ONNX Runtime"):
        mission("attacked-tst", 1)


def test_the_default_strategy_answers_alarms_without_paying_more_than_the_attack() -> None:
    flown = Variant(RULES, 1)
    row = flown.row("measured", make("measured", flown.catalogue, flown.settings), "cs-mlkem1024-aesgcm-falcon1024")
    calm = Variant("nominal", 1)
    quiet = calm.row("measured", make("measured", calm.catalogue, calm.settings), "cs-mlkem1024-aesgcm-falcon1024")
    assert row.broken == 0
    assert row.suite_changes <= quiet.suite_changes + ATTACKS
    assert row.rekeys <= quiet.rekeys + ATTACKS
