# SPDX-License-Identifier: Apache-2.0
"""Budgets of the strategy measured. None of them is published."""

from dataclasses import dataclass

from pqc_mav_policy.parameter_table import ParameterTable, number


@dataclass(frozen=True)
class MeasuredParameters(ParameterTable):
    """What a handshake may cost, and when a stronger suite may be asked for. Frozen."""

    budget_ms: float = number(
        1000.0,
        1.0,
        60000.0,
        "ms",
        "A handshake may take this long, computation and transfer together, while nothing is wrong.",
    )
    tight_ms: float = number(
        100.0,
        1.0,
        60000.0,
        "ms",
        "The same under strain (temperature, voltage, throttling), on a bad link and during an attack.",
    )
    budget_j: float = number(
        2.0,
        0.001,
        1000.0,
        "J",
        "A handshake may take this much energy; counts only for suites whose energy 'performance_file' gives.",
    )
    link_kbit_s: float = number(
        1000.0,
        1.0,
        1e6,
        "kbit/s",
        "The assumed rate of the link for a handshake, before loss. Set it to what your radio leaves beside telemetry.",
    )
    climb_share: float = number(
        0.8,
        0.1,
        1.0,
        "fraction",
        "A stronger suite is asked for when it fits this share of the budget, so that it does not have to go at once.",
    )
    climb_every_s: float = number(60.0, 0.0, 3600.0, "s", "From one step up to the next at least this long.")
    recover_v: float = number(
        0.4,
        0.0,
        10.0,
        "V",
        "A step up needs this much more than the emergency's voltage (pack of four cells, others in proportion).",
    )
    recover_charge: float = number(
        0.1, 0.0, 1.0, "fraction", "A step up needs this much more than the emergency's charge."
    )
    recover_c: float = number(1.0, 0.0, 50.0, "Cel", "A step up needs this much less than the emergency's temperature.")
