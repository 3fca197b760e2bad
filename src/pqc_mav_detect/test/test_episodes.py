# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_detect import classes
from pqc_mav_detect.classes import Level
from pqc_mav_detect.detector import Opinion
from pqc_mav_detect.episodes import Episodes, level_of

FORGED = Opinion({classes.FORGERY: 2.0}, {}, ((classes.FORGERY, "9 forged"),), 3.0)
QUIET = Opinion()


def test_levels_and_the_classes_that_are_never_certain() -> None:
    assert [level_of(classes.FLOOD, value) for value in (0.4, 0.5, 1.0)] == [0, 1, 2]
    assert [level_of(classes.ON_PATH, value) for value in (0.4, 0.5, 1.0, 9.0)] == [0, 0, 1, 1]


def test_up_at_once_and_down_after_a_while() -> None:
    episodes = Episodes()
    assert episodes.update(QUIET, 5.0).level is Level.NONE
    verdict = episodes.update(FORGED, 5.1)
    assert (verdict.level, verdict.kind, verdict.first_seen_s) == (Level.ATTACK, classes.FORGERY, 3.0)
    assert (verdict.probability, verdict.confidence) == (1.0, 1.0)
    assert episodes.update(FORGED, 6.0) == verdict
    assert episodes.update(QUIET, 8.9).level is Level.ATTACK
    done = episodes.update(QUIET, 9.0)
    assert (done.level, done.kind, done.first_seen_s, done.evidence) == (Level.NONE, "", None, ())


def test_what_is_less_sure_takes_as_long_to_come_down_as_nothing() -> None:
    episodes = Episodes()
    assert episodes.update(FORGED, 5.0).level is Level.ATTACK
    faint = Opinion({classes.FORGERY: 0.5})
    assert [episodes.update(faint, now_s).level for now_s in (5.1, 7.9, 8.0)] == [2, 2, 1]


def test_an_episode_keeps_when_it_began() -> None:
    episodes = Episodes()
    for now_s in (5.0, 6.0, 7.0):
        verdict = episodes.update(Opinion({classes.FORGERY: 2.0}, {}, (), now_s), now_s)
    assert verdict.first_seen_s == 5.0


def test_the_class_does_not_flap() -> None:
    episodes = Episodes()
    both = {classes.FLOOD: 2.0, classes.FORGERY: 2.0}
    assert episodes.update(Opinion({classes.FLOOD: 2.0}), 1.0).kind == classes.FLOOD
    assert episodes.update(Opinion(both, {**both, classes.FORGERY: 2.99}), 1.1).kind == classes.FLOOD
    verdict = episodes.update(Opinion(both, {**both, classes.FORGERY: 3.01}), 1.2)
    assert verdict.kind == classes.FORGERY and verdict.confidence == pytest.approx(3.01 / 5.01)


def test_where_all_are_as_strong_the_cause_comes_first() -> None:
    both = {classes.ON_PATH: 2.0, classes.FLOOD: 2.0, classes.REPLAY: 2.0}
    assert Episodes().update(Opinion(both), 1.0).kind == classes.REPLAY


def test_a_class_without_strength_takes_little_of_the_confidence() -> None:
    verdict = Episodes().update(Opinion({classes.FLOOD: 1.1, classes.FORGERY: 2.0}, {classes.FORGERY: 0.1}), 1.0)
    assert (verdict.kind, verdict.confidence) == (classes.FORGERY, pytest.approx(0.1 / 0.101))


def test_evidence_of_its_own_class_comes_first() -> None:
    seen = ((classes.FLOOD, "much"), (classes.FORGERY, "forged"))
    both = {classes.FLOOD: 1.1, classes.FORGERY: 3.0}
    verdict = Episodes().update(Opinion(both, both, seen), 1.0)
    assert verdict.evidence == ("forged", "much")
    assert verdict.reason == "Forged packets of a session: forged; much."
