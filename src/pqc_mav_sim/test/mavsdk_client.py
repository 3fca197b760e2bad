# SPDX-License-Identifier: Apache-2.0
"""A flight flown by MAVSDK, run as a program of its own: `mavsdk_client.py URL RESULT_FILE`.

It is a separate process because MAVSDK is a native library: whatever happens in it cannot take a test run along, and
its threads end with it. What it saw is written to the result file as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mavsdk import ComponentType, Configuration, ConnectionResult, Mavsdk
from mavsdk.plugins.action import Action, ActionError
from mavsdk.plugins.info import Info
from mavsdk.plugins.param import Param
from mavsdk.plugins.telemetry import LandedState, Telemetry

DISCOVERY_S = 30.0
STEP_S = 40.0
FLOAT_PARAM = "MIS_TAKEOFF_ALT"
INT_PARAM = "COM_DL_LOSS_T"


class StepFailedError(RuntimeError):
    """Something the flight waits for did not happen."""


def wait_until(what: str, condition: Callable[[], Any], timeout: float = STEP_S) -> Any:
    """Return condition()'s first true value; StepFailedError when there is none in time."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.05)
    raise StepFailedError(f"waited {timeout:g} s in vain: {what}")


def fly(url: str) -> dict[str, Any]:
    """Connect, look, arm, take off, land and read parameters; return what was seen."""
    seen: dict[str, Any] = {}
    with Mavsdk(Configuration.create_with_component_type(ComponentType.GROUND_STATION)) as mavsdk:
        result = mavsdk.add_any_connection(url)
        if result != ConnectionResult.SUCCESS:
            raise StepFailedError(f"MAVSDK cannot use {url}: {result.name}")
        seen["mavsdk_version"] = mavsdk.version()
        system = mavsdk.first_autopilot(DISCOVERY_S)
        if system is None:
            raise StepFailedError(f"no autopilot on {url} within {DISCOVERY_S:g} s")
        seen["system_id"] = system.get_system_id()
        telemetry, action, param, info = Telemetry(system), Action(system), Param(system), Info(system)
        seen["early_takeoff"] = refusal(action.takeoff)
        wait_until("all health checks to pass", telemetry.health_all_ok)
        look(telemetry, seen)
        version = info.get_version()
        seen["flight_sw"] = f"{version.flight_sw_major}.{version.flight_sw_minor}.{version.flight_sw_patch}"
        read_params(param, seen)
        action.arm()
        seen["armed"] = wait_until("the vehicle to be armed", telemetry.armed)
        action.takeoff()
        wait_until("the vehicle to be in the air", lambda: telemetry.landed_state() == LandedState.IN_AIR)
        goal = 0.8 * seen["float_param"]
        wait_until("the take-off altitude", lambda: telemetry.position().relative_altitude_m >= goal)
        seen["altitude_m"] = telemetry.position().relative_altitude_m
        seen["current_in_air_a"] = telemetry.battery().current_battery_a
        seen["disarm_in_air"] = refusal(action.disarm)
        action.land()
        wait_until("the vehicle to be on the ground", lambda: telemetry.landed_state() == LandedState.ON_GROUND)
        wait_until("the vehicle to disarm", lambda: not telemetry.armed())
        seen["landed"] = True
    return seen


def look(telemetry: Telemetry, seen: dict[str, Any]) -> None:
    """Note the telemetry before the flight."""
    position = wait_until("a position", lambda: nonzero(telemetry.position()))
    battery = wait_until("a battery", lambda: usable(telemetry.battery()))
    seen["latitude_deg"] = position.latitude_deg
    seen["longitude_deg"] = position.longitude_deg
    seen["voltage_v"] = battery.voltage_v
    seen["remaining_percent"] = battery.remaining_percent
    seen["armed_before"] = telemetry.armed()
    seen["flight_mode"] = telemetry.flight_mode().name


def nonzero(position: Any) -> Any:
    """Return a position once it was received; MAVSDK shows NaN or zero before that."""
    return position if abs(position.latitude_deg) > 0.0 else None


def usable(battery: Any) -> Any:
    """Return a battery once it was received."""
    return battery if battery.voltage_v > 1.0 else None


def refusal(call: Callable[[], Any]) -> str:
    """Return how MAVSDK reports the vehicle's refusal, "ACCEPTED" if there was none."""
    try:
        call()
    except ActionError as error:
        return str(error)
    return "ACCEPTED"


def read_params(param: Param, seen: dict[str, Any]) -> None:
    """Read, write and list parameters."""
    seen["float_param"] = param.get_param_float(FLOAT_PARAM)
    before = param.get_param_int(INT_PARAM)
    param.set_param_int(INT_PARAM, before + 1)
    seen["int_param_written"] = before + 1
    seen["int_param"] = param.get_param_int(INT_PARAM)
    every = param.get_all_params()
    seen["param_count"] = len(every.int_params) + len(every.float_params)


def main() -> int:
    """Fly and write the result file; the exit code says whether everything was seen."""
    url, result_file = sys.argv[1:3]
    try:
        result = fly(url)
    except Exception as error:
        result = {"error": f"{type(error).__name__}: {error}"}
    Path(result_file).write_text(json.dumps(result), encoding="utf-8")
    return 1 if "error" in result else 0


if __name__ == "__main__":
    sys.exit(main())
