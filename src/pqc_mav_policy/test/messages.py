# SPDX-License-Identifier: Apache-2.0
"""Messages for the tests, as the publishers would send them from a drone that is well."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

GOOD: dict[str, dict[str, Any]] = {
    "battery": {
        "valid": True,
        "reason": "",
        "age_s": 0.1,
        "voltage_v": 16.0,
        "voltage_rate_mv_per_min": -20.0,
        "state_of_charge": 0.8,
        "cells": 4,
    },
    "thermal": {"valid": True, "reason": "", "temperature_c": 50.0, "rate_c_per_min": 0.1, "throttled": False},
    "vehicle": {"valid": True, "reason": "", "armed": True, "phase": 3},
    "system": {"valid": True, "reason": "", "cpu_percent": 12.0},
    "threat": {"level": 0, "kind": "", "probability": 0.0},
    "link": {
        "side": "peer",
        "age_s": 0.2,
        "packets_per_s": 320.0,
        "gap_p95_ms": 10.0,
        "longest_silence_ms": 50.0,
        "jitter_ms": 1.0,
        "loss": 0.0,
        "blackouts": 0,
    },
    "status": {
        "state": 2,
        "suite": "cs-mlkem768-aesgcm-mldsa65",
        "epoch": 0,
        "key_age_s": 1.0,
        "blacklisted_suites": [],
    },
}


def message(stream: str, **changes: Any) -> Any:
    """A message of a stream with other values in some fields."""
    return SimpleNamespace(**{**GOOD[stream], **changes})
