# SPDX-License-Identifier: Apache-2.0
"""Training: every mission comes to its end, and the same seed gives the same file."""

from __future__ import annotations

import numpy as np
import pytest
from scenes import CATALOGUE, CORE

from pqc_mav_common.testing import on_request
from pqc_mav_policy.strategies.rl.state import SIZES, Choice
from pqc_mav_policy.strategies.rl.table import dump
from pqc_mav_policy_lab.flight_model.costs import published_costs
from pqc_mav_policy_lab.missions.simulated import NAMES
from pqc_mav_policy_lab.training.draw import Draw
from pqc_mav_policy_lab.training.train import Training, train


@pytest.fixture
def draw() -> Draw:
    return Draw(CATALOGUE, published_costs(CATALOGUE), CORE)


@pytest.mark.parametrize("name", NAMES)
def test_a_mission_comes_to_its_end_whatever_is_chosen(draw: Draw, name: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(2):
        mission = draw(int(rng.integers(1000)), name)
        seconds = steps = 0
        while not mission.over:
            assert len(mission.state) == len(SIZES)
            assert all(0 <= part < size for part, size in zip(mission.state, SIZES, strict=True))
            assert Choice.HOLD in mission.safe
            gain, took_s = mission.choose(Choice(int(rng.integers(len(Choice)))))
            seconds, steps = seconds + took_s, steps + 1
            assert -5.0 * took_s <= gain <= took_s
        assert seconds >= 5 * (steps - 1) and seconds > 600
        assert mission.choose(Choice.HOLD) == (0.0, 0)


def test_a_seed_draws_the_same_mission_again(draw: Draw) -> None:
    def flown(seed: int) -> list[object]:
        mission = draw(seed)
        return [(mission.state, mission.choose(Choice.HOLD)) for _ in range(20)]

    assert flown(3) == flown(3) != flown(4)


def test_the_same_seed_gives_the_same_bytes(draw: Draw) -> None:
    def made(seed: int) -> str:
        return dump(train(draw, Training(seed=seed, episodes=5, least_visits=3)))

    first = made(4)
    assert first == made(4) != made(5)


@on_request("trains for 30 s")
def test_training_is_told_and_learns_what_pays(draw: Draw) -> None:
    heard: list[tuple[int, float]] = []
    table = train(draw, Training(episodes=40, least_visits=3), lambda episode, worth: heard.append((episode, worth)))
    assert [episode for episode, _ in heard] == list(range(1, 41))
    climbs = [row for row in table.values.values() if row[Choice.LEVEL_5] is not None]
    # Level 5 costs no more than level 1 with these suites: going there pays wherever it may be done.
    assert len(climbs) > 3 and sum(row[Choice.LEVEL_5] > row[Choice.HOLD] for row in climbs) > len(climbs) / 2
    assert all(row[Choice.HOLD] is not None for row in table.values.values())
    assert table.training["episodes"] == 40
