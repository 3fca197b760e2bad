# SPDX-License-Identifier: Apache-2.0
"""Flights written down by hand after what a real autopilot showed, through sensing and a strategy, second by second.

Each CSV of `reconstructed/` holds key points with straight lines between; readings come at 4 Hz, decisions at 1 Hz.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scenes import CORE, DEFAULT, LIGHTEST, well

from pqc_mav_policy.decision import Decision
from pqc_mav_policy.strategy import Strategy
from pqc_mav_policy.telemetry.inputs import DecisionInput
from pqc_mav_policy.telemetry.telemetry import Telemetry
from pqc_mav_sensing import chemistry
from pqc_mav_sensing.battery_estimator import BatteryEstimator, RawBattery
from pqc_mav_sensing.phase import Phase
from pqc_mav_sensing.vehicle_tracker import VehicleTracker

FOLDER = Path(__file__).parent / "reconstructed"
RATE_HZ = 4
NUMBERS = ("t_s", "volts", "amps", "percent", "armed", "height_m", "speed_m_s", "climb_m_s")


@dataclass(frozen=True)
class Moment:
    """One second: what sensing made of it and what was decided; `rate` [mV/min], None while unknown."""

    at_s: float
    inputs: DecisionInput
    decision: Decision
    phase: Phase
    rate: float | None


def readings(name: str) -> Iterator[Mapping[str, Any]]:
    """The flight at 4 Hz; NaN where a column is empty."""
    lines = (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    points = [
        {**row, **{key: float(row[key] or "nan") for key in NUMBERS}}
        for row in csv.DictReader(line for line in lines if not line.startswith("#"))
    ]
    for before, after in pairwise(points):
        for step in range(round((after["t_s"] - before["t_s"]) * RATE_HZ)):
            part = step / RATE_HZ / (after["t_s"] - before["t_s"])
            yield {
                **before,
                **{key: before[key] + part * (after[key] - before[key]) for key in NUMBERS},
                "armed": before["armed"],
            }


def flown(
    name: str, strategy: Strategy[Any], suite: str = DEFAULT, capacity_ah: float = 0.0, **estimator: Any
) -> list[Moment]:
    """The whole flight on one suite: requests are counted, not done. The processor is cool and the link good."""
    battery = BatteryEstimator(chemistry.find("lipo"), capacity_ah, **estimator)
    vehicle = VehicleTracker()
    telemetry = Telemetry(30.0, 10.0)
    good = well(suite)
    state: Any = strategy.initial_state(0.0)
    moments = []
    for index, row in enumerate(readings(name)):
        now = row["t_s"]
        vehicle.heartbeat(now, bool(row["armed"]), row["mode"])
        vehicle.motion(now, altitude_m=row["height_m"], ground_speed_m_s=row["speed_m_s"], climb_m_s=row["climb_m_s"])
        if not math.isnan(row["volts"]):
            battery.add(RawBattery(now, row["volts"], row["amps"], row["percent"] / 100.0))
        view = vehicle.view(now)
        battery.follow(now, view.armed, view.phase is Phase.TAKEOFF)
        if index % RATE_HZ:
            continue
        telemetry.on("battery", _message(battery.state(now)), now)
        telemetry.on("vehicle", _message(view), now)
        seen = telemetry.snapshot(now, CORE, configured=LIGHTEST)
        keys = replace(good.session, key_age_s=now + 5.0, last_switch_s=-5.0)
        inputs = replace(seen, thermal=good.thermal, link=good.link, session=keys)
        decision, state = strategy.decide(inputs, state, now)
        moments.append(Moment(now, inputs, decision, view.phase, inputs.battery.rate_mv_per_min))
    return moments


def _message(view: Any) -> Any:
    """As the node publishes it, by field."""
    return SimpleNamespace(**{name: getattr(view, name) for name in view.__dataclass_fields__})
