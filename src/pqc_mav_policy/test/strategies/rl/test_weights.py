# SPDX-License-Identifier: Apache-2.0
"""The weights: those of the documents' worked example, and what the phases of flight change."""

from __future__ import annotations

import pytest

from pqc_mav_policy.strategies.rl.weights import WEIGHTS, Weights
from pqc_mav_policy.telemetry.inputs import Phase


def test_the_weights_of_every_phase_add_up_to_one() -> None:
    assert WEIGHTS[Phase.CRUISE] == Weights(0.5, 0.3, 0.2)  # [endurance-paper] 6.2
    assert set(WEIGHTS) == set(Phase)
    for weights in WEIGHTS.values():
        assert weights.security + weights.latency + weights.power == pytest.approx(1.0)
    assert WEIGHTS[Phase.HOVER].security > WEIGHTS[Phase.CRUISE].security > WEIGHTS[Phase.TAKEOFF].security
    assert WEIGHTS[Phase.TAKEOFF].latency > WEIGHTS[Phase.CRUISE].latency
