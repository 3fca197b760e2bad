# SPDX-License-Identifier: Apache-2.0
"""Training: the environment keeps Gymnasium's contract, and the same seed gives the same file."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scenes import CATALOGUE, CORE

from pqc_mav_common.testing import on_request
from pqc_mav_policy.strategies.rl.state import Choice
from pqc_mav_policy.strategies.rl.table import dump
from pqc_mav_policy_lab.flight_model.costs import published_costs
from pqc_mav_policy_lab.missions.simulated import NAMES
from pqc_mav_policy_lab.training.environment import MissionEnv
from pqc_mav_policy_lab.training.train import Training, train


@pytest.fixture
def env() -> MissionEnv:
    return MissionEnv(CATALOGUE, published_costs(CATALOGUE), CORE)


def test_the_environment_keeps_the_contract(env: MissionEnv) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*render.*|.*unwrapped.*|.*spec.*")
        check_env(env, skip_render_check=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_mission_comes_to_its_end_whatever_is_chosen(env: MissionEnv, name: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(2):
        observation, info = env.reset(seed=int(rng.integers(1000)), options={"mission": name})
        seconds = steps = 0
        over = False
        while not over:
            assert env.observation_space.contains(observation) and info["safe"][Choice.HOLD]
            observation, gain, over, truncated, info = env.step(rng.integers(len(Choice)))
            seconds, steps = seconds + info["seconds"], steps + 1
            assert -5.0 * info["seconds"] <= gain <= info["seconds"] and not truncated
        assert seconds >= 5 * (steps - 1) and seconds > 600


def test_the_same_seed_gives_the_same_bytes(env: MissionEnv) -> None:
    def made(seed: int) -> str:
        return dump(train(env, Training(seed=seed, episodes=5, least_visits=3)))

    first = made(4)
    assert first == made(4) != made(5)


@on_request("trains for 30 s")
def test_training_is_told_and_learns_what_pays(env: MissionEnv) -> None:
    heard: list[tuple[int, float]] = []
    table = train(env, Training(episodes=40, least_visits=3), lambda episode, worth: heard.append((episode, worth)))
    assert [episode for episode, _ in heard] == list(range(1, 41))
    climbs = [row for row in table.values.values() if row[Choice.LEVEL_5] is not None]
    # Level 5 costs no more than level 1 with these suites: going there pays wherever it may be done.
    assert len(climbs) > 3 and sum(row[Choice.LEVEL_5] > row[Choice.HOLD] for row in climbs) > len(climbs) / 2
    assert all(row[Choice.HOLD] is not None for row in table.values.values())
    assert table.training["episodes"] == 40
