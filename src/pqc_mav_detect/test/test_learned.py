# SPDX-License-Identifier: Apache-2.0
"""What becomes of a model's probabilities: a model that says what the test wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from scenes import Scene

from pqc_mav_detect.classes import BLACKOUT, FORGERY, ON_PATH, REPLAY
from pqc_mav_detect.detector import Opinion
from pqc_mav_detect.learned import OUTPUTS, Learned, log_odds

CALM: Mapping[str, float] = {}


def opinions(
    monkeypatch: pytest.MonkeyPatch,
    said: list[Mapping[str, float]],
    shown: Mapping[str, float],
    limits: Mapping[str, float] | None = None,
    silent: Mapping[str, float] | None = None,
) -> list[Opinion]:
    """The opinion after each window, where the model says these probabilities and the rest is normal traffic."""
    rows = [np.array([1 - sum(each.values()), *(each.get(kind, 0.0) for kind in OUTPUTS[1:])]) for each in said]
    detector = Learned("model", 1, lambda _: rows.pop(0), limits or {})
    monkeypatch.setattr(detector, "_shown", lambda _: dict(shown))
    return [detector.update(replace(window, silent=silent or {})) for window in Scene().run(0.1 * (len(said) + 1))]


def test_one_window_alone_may_be_an_accident_and_two_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    sure = {FORGERY: 0.9}
    found = opinions(monkeypatch, [CALM, CALM, sure, sure, CALM], {FORGERY: 1.0})
    assert [bool(each.pressure) for each in found] == [False, False, False, True, False]
    assert found[3].strength == {FORGERY: pytest.approx(0.9)}
    longer = opinions(monkeypatch, [sure, sure, sure, CALM, CALM, sure, sure], {FORGERY: 1.0})
    began = [each.since_s for each in longer]
    assert began[0] == began[1] == began[2] and began[3] is began[5] is None
    assert began[0] is not None and began[6] == pytest.approx(began[0] + 0.6)


@pytest.mark.parametrize(("shown", "named"), [(0.25, True), (0.249, False)])
def test_a_pattern_is_not_enough(monkeypatch: pytest.MonkeyPatch, shown: float, named: bool) -> None:
    found = opinions(monkeypatch, [{FORGERY: 0.9}] * 2, {FORGERY: shown})[-1]
    assert (FORGERY in found.pressure) is named


@pytest.mark.parametrize(("limit", "probability"), [(0.5, 0.8), (0.95, 0.95)])
def test_pressure_is_one_at_the_limit_which_is_never_below_four_fifths(
    monkeypatch: pytest.MonkeyPatch, limit: float, probability: float
) -> None:
    found = opinions(monkeypatch, [{FORGERY: probability}], {FORGERY: 1.0}, {FORGERY: limit})[-1]
    assert found.pressure == {FORGERY: pytest.approx(1.0)}


def test_losses_are_named_by_their_sums_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for lost, pressure in ((0.99, None), (1.0, 1.0), (1.5, 1.5), (9.0, 2.0)):
        found = opinions(monkeypatch, [CALM], {ON_PATH: lost})[-1]
        assert found.pressure.get(ON_PATH) == pressure
        assert found.strength.get(ON_PATH) == (0.5 if pressure else None)


def test_a_silence_is_named_whatever_the_model_says(monkeypatch: pytest.MonkeyPatch) -> None:
    found = opinions(monkeypatch, [CALM], {}, silent={"d1": 2.04})[-1]
    assert (found.pressure, found.strength) == ({BLACKOUT: 1.0}, {BLACKOUT: 1.0})
    assert found.evidence == ((BLACKOUT, "nothing heard from d1 for 2.0 s"),)
    both = opinions(monkeypatch, [{FORGERY: 0.9}], {FORGERY: 1.0}, silent={"d1": 2.04})[-1]
    assert (FORGERY, "the pattern of all figures together") in both.evidence


def test_few_copies_are_only_suspected(monkeypatch: pytest.MonkeyPatch) -> None:
    assert opinions(monkeypatch, [{REPLAY: 0.9}], {REPLAY: 1.0})[-1].pressure == {REPLAY: 0.5}
    assert opinions(monkeypatch, [{REPLAY: 0.45}], {REPLAY: 1.0})[-1] == Opinion(), "nor more than the model says"


def test_log_odds_of_the_certain_are_finite() -> None:
    assert log_odds(0.5) == 0 and log_odds(0.8) == pytest.approx(np.log(4))
    assert (log_odds(0.0), log_odds(1.0)) == pytest.approx((np.log(1e-6), -np.log(1e-6)))
