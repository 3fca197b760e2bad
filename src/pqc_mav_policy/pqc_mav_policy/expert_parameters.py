"""Thresholds of the expert strategy. The documents name its guards, not their figures."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from pqc_mav_policy.parameter_table import number


class ExpertParameters(BaseModel):
    """When each guard stands. Frozen."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    thermal_elevated_c: float = number(
        70.0, 0.0, 150.0, "Cel", "A processor warmer than this leaves long handshakes; 10 C below the emergency."
    )
    battery_low_v: float = number(
        14.8, 0.0, 100.0, "V", "A pack below this takes the suite of the lowest measured power; 3.7 V a cell of four."
    )
    battery_low_charge: float = number(0.30, 0.0, 1.0, "fraction", "So does a state of charge below this.")
    heartbeat_missing_s: float = number(
        3.0, 0.1, 60.0, "s", "A silence on the link longer than this (three heartbeats) takes a fast handshake."
    )
    loss: float = number(
        0.03,
        0.0,
        1.0,
        "fraction",
        "Loss above this takes the suite of the least measured loss.",
        "[endurance-paper] 6.1",
    )
    fast_handshake_ms: float = number(
        20.0, 0.1, 10000.0, "ms", "A handshake up to this is a fast one.", "[endurance-paper] 5.2: ML-KEM takes 9-20 ms"
    )
