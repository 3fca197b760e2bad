# SPDX-License-Identifier: Apache-2.0
"""How much security, latency and power count in what a learned strategy was trained for, by phase of flight.

The documents print the formula ([endurance-paper] 6.2) and that its weights depend on the phase of flight, no numbers.
The weights of CRUISE are those of the worked example (0.5, 0.3, 0.2); the others are ours: more security where the
flight is static, more weight on latency in manoeuvres.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pqc_mav_policy.telemetry.inputs import Phase


@dataclass(frozen=True)
class Weights:
    """How much security, latency and power count."""

    security: float
    latency: float
    power: float


WEIGHTS: Mapping[Phase, Weights] = {
    Phase.UNKNOWN: Weights(0.5, 0.3, 0.2),
    Phase.DISARMED: Weights(0.7, 0.1, 0.2),
    Phase.TAKEOFF: Weights(0.3, 0.5, 0.2),
    Phase.CRUISE: Weights(0.5, 0.3, 0.2),
    Phase.HOVER: Weights(0.6, 0.2, 0.2),
    Phase.LANDING: Weights(0.3, 0.5, 0.2),
}
