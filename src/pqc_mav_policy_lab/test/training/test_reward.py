# SPDX-License-Identifier: Apache-2.0
"""The reward: the documents' formula with its worked example, and what it prefers."""

from __future__ import annotations

import pytest

from pqc_mav_policy.strategies.rl.weights import WEIGHTS
from pqc_mav_policy.telemetry.inputs import Phase, Threat
from pqc_mav_policy_lab.training.reward import latency_score, power_score, reward, security_score


def test_the_worked_example() -> None:
    """[endurance-paper] 6.2: w = (0.5, 0.3, 0.2), S = 0.8, L = 0.2, P = 0.5 make R = 0.24."""
    assert reward(0.8, 0.2, 0.5, WEIGHTS[Phase.CRUISE]) == pytest.approx(0.24)


def test_security_grows_with_level_and_fades_with_age() -> None:
    assert security_score(1, 0.0) < security_score(3, 0.0) < security_score(5, 0.0) == 1.0
    assert security_score(5, 60.0) == 1.0 > security_score(5, 61.0) > security_score(5, 600.0) > 0.5
    assert security_score(3, 45.0, Threat.ATTACK) < security_score(3, 45.0) == 0.8
    assert security_score(3, 120.0) == pytest.approx(0.8 * 0.75)


def test_costs_are_fractions() -> None:
    assert latency_score(0.0) == 0.0 and latency_score(0.5) == 0.5 and latency_score(1.0) == 1.0
    assert power_score(0.0) == 0.0 < power_score(3.99) < power_score(5.1) < power_score(100.0) == 1.0
