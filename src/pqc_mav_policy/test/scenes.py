# SPDX-License-Identifier: Apache-2.0
"""Snapshots for the tests: a drone that is well, and changes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.registry import engine_available, engine_catalogue
from pqc_mav_policy.telemetry.inputs import Battery, DecisionInput, Link, Phase, Session, Thermal, TunnelState, Vehicle

CATALOGUE = engine_catalogue()
CORE = engine_available()
DEFAULT = "cs-mlkem768-aesgcm-mldsa65"
# The proxy of most tests is configured with a suite of level 1, so that every level may be chosen.
LIGHTEST = "cs-mlkem512-aesgcm-falcon512"


def every(**parameters: Any) -> PolicyParameters:
    """Parameters under which every suite may be chosen: the rules are tested on long ladders."""
    return PolicyParameters(**{"allow_drafts": True, **parameters})


def suite(code: str) -> str:
    """The id of a short code."""
    found = CATALOGUE.find(code)
    assert found is not None, code
    return found.id


def well(current: str = DEFAULT, epoch: int = 0, switched: float = -1e6, **changes: Any) -> DecisionInput:
    """Everything valid, far from every limit, cruising; `switched` is the time of the last switch."""
    inputs = DecisionInput(
        battery=Battery(voltage_v=16.0, rate_mv_per_min=-20.0, state_of_charge=0.8, age_s=0.2, valid=True, cells=4),
        thermal=Thermal(temperature_c=50.0, rate_c_per_min=0.1, age_s=0.2, valid=True),
        link=Link(
            packets_per_s=320.0, gap_p95_s=0.01, longest_silence_s=0.05, jitter_s=0.001, loss=0.0, age_s=0.2, valid=True
        ),
        vehicle=Vehicle(armed=True, phase=Phase.CRUISE, age_s=0.2, valid=True),
        session=Session(state=TunnelState.UP, suite=current, epoch=epoch, key_age_s=0.0, last_switch_s=switched),
        available=CORE,
        configured_suite=LIGHTEST,
    )
    return change(inputs, **changes)


def change(inputs: DecisionInput, **changes: Any) -> DecisionInput:
    """`change(inputs, thermal={"temperature_c": 81}, missing=("no battery",))`: a dict changes fields of a part."""
    for name, value in changes.items():
        part = replace(getattr(inputs, name), **value) if isinstance(value, dict) else value
        inputs = replace(inputs, **{name: part})
    return inputs


GROUND = {"armed": False, "phase": Phase.DISARMED}
