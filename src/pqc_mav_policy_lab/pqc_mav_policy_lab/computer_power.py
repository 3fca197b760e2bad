# SPDX-License-Identifier: Apache-2.0
"""Power of the drone's computer at a load, from the published mean and peak."""

# [pqcmav-paper] Table X: mean power and load of the drone's computer while a suite of the ML-KEM family runs.
MEAN_POWER_W = 3.990
MEAN_CPU_PERCENT = 25.0
# The same table's peak; the slope between both gives the power at other loads.
PEAK_POWER_W = 5.102
PEAK_CPU_PERCENT = 45.7


def computer_power_w(cpu_percent: float) -> float:
    """Power of the drone's computer at a load (0-100) [W], on the line through the published mean and peak."""
    slope = (PEAK_POWER_W - MEAN_POWER_W) / (PEAK_CPU_PERCENT - MEAN_CPU_PERCENT)
    return MEAN_POWER_W + slope * (cpu_percent - MEAN_CPU_PERCENT)
