# SPDX-License-Identifier: Apache-2.0
"""The computer's power: through the published points."""

from __future__ import annotations

import pytest

from pqc_mav_policy_lab.computer_power import (
    MEAN_CPU_PERCENT,
    MEAN_POWER_W,
    PEAK_CPU_PERCENT,
    PEAK_POWER_W,
    computer_power_w,
)


def test_power_passes_through_the_published_mean_and_peak() -> None:
    assert computer_power_w(MEAN_CPU_PERCENT) == pytest.approx(MEAN_POWER_W)
    assert computer_power_w(PEAK_CPU_PERCENT) == pytest.approx(PEAK_POWER_W)
    assert computer_power_w(14.6) < computer_power_w(88.8)
