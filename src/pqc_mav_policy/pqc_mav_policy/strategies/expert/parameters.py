# SPDX-License-Identifier: Apache-2.0
"""Thresholds of the expert strategy. The documents name its guards but no figures ([endurance-paper] 3.2 is lost)."""

from dataclasses import dataclass

from pqc_mav_policy.parameter_table import ParameterTable, number


@dataclass(frozen=True)
class ExpertParameters(ParameterTable):
    """When each guard becomes active. Frozen."""

    thermal_elevated_c: float = number(
        70.0,
        0.0,
        150.0,
        "Cel",
        "Above this processor temperature long handshakes are avoided; 10 C below the emergency.",
    )
    battery_low_v: float = number(
        14.8,
        0.0,
        100.0,
        "V",
        "Below this voltage of a pack of four cells (others in proportion) the suite with the lowest measured power is "
        "used; 3.7 V per cell.",
    )
    battery_low_charge: float = number(0.30, 0.0, 1.0, "fraction", "The same below this state of charge.")
    heartbeat_missing_s: float = number(
        3.0,
        0.1,
        60.0,
        "s",
        "After a longer silence on the link than this (three heartbeats), a suite with a fast handshake is used.",
    )
    loss: float = number(
        0.03,
        0.0,
        1.0,
        "fraction",
        "Above this loss the suite with the least measured loss is used.",
        "[endurance-paper] 6.1",
    )
    fast_handshake_ms: float = number(
        20.0,
        0.1,
        10000.0,
        "ms",
        "A handshake that takes no longer than this counts as fast.",
        "[endurance-paper] 5.2: ML-KEM takes 9-20 ms",
    )
