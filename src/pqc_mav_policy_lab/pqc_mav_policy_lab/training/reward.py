# SPDX-License-Identifier: Apache-2.0
"""The reward a learned strategy maximises: R = w_sec S - w_lat L - w_pwr P ([endurance-paper] 6.2), weighted by phase.

S, L and P are fractions (0-1). The weights are the policy's (strategy rl): a trained table names them.
"""

from collections.abc import Mapping

from pqc_mav_policy.strategies.rl.weights import WEIGHTS, Weights
from pqc_mav_policy.telemetry.inputs import Phase, Threat
from pqc_mav_policy_lab.computer_power import computer_power_w

# Share of full security by NIST level: each of the levels counts, the step from none to the first the most.
LEVEL_SCORE: Mapping[int, float] = {1: 0.6, 3: 0.8, 5: 1.0}
# Keys count in full up to this age, the published interval for ML-KEM; then less, in inverse proportion.
FRESH_S = 60.0
# Under attack keys age faster: a rekey ahead of time answers an anomaly ([rpi4-analysis] 4.1 and 4.3).
FRESH_UNDER_ATTACK_S = 30.0
# Half of the score is the suite's, half its keys' freshness.
FRESHNESS_SHARE = 0.5
IDLE_POWER_W = computer_power_w(0.0)
FULL_POWER_W = computer_power_w(100.0)


def reward(security: float, latency: float, power: float, weights: Weights) -> float:
    """R; all of the arguments as fractions (0-1)."""
    return weights.security * security - weights.latency * latency - weights.power * power


def of_second(phase: Phase, security: float, under_way_s: float, power_w: float) -> float:
    """R of one second of a flight."""
    return reward(security, latency_score(under_way_s), power_score(power_w), WEIGHTS[phase])


def security_score(level: int, key_age_s: float, threat: Threat = Threat.NONE) -> float:
    """S of a session that carries data with a suite of this NIST level and keys of this age; 0-1."""
    fresh_s = FRESH_UNDER_ATTACK_S if threat is Threat.ATTACK else FRESH_S
    freshness = 1.0 if key_age_s <= fresh_s else fresh_s / key_age_s
    return LEVEL_SCORE[level] * (1.0 - FRESHNESS_SHARE + FRESHNESS_SHARE * freshness)


def latency_score(under_way_s: float) -> float:
    """L of one second: the share of it with a handshake under way, when no other can begin, whatever the emergency."""
    return min(1.0, under_way_s)


def power_score(power_w: float) -> float:
    """P of one second: where the computer's power lies between idle and full load."""
    return min(1.0, max(0.0, (power_w - IDLE_POWER_W) / (FULL_POWER_W - IDLE_POWER_W)))
