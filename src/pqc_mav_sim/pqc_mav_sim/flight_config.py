# SPDX-License-Identifier: Apache-2.0
"""Flight limits taken from the parameter table, so that a PARAM_SET changes how the vehicle flies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from pqc_mav_sim.battery import BatteryThresholds


def _of(param: str, default: float) -> Any:
    return field(default=default, metadata={"param": param})


@dataclass(frozen=True)
class FlightConfig:
    """Limits in m, m/s and s; meanings are those of the PX4 parameters from which they are read."""

    cruise_speed: float = _of("MPC_XY_CRUISE", 5.0)
    climb_speed: float = _of("MPC_Z_VEL_MAX_UP", 3.0)
    sink_speed: float = _of("MPC_Z_VEL_MAX_DN", 1.5)
    takeoff_speed: float = _of("MPC_TKO_SPEED", 1.5)
    land_speed: float = _of("MPC_LAND_SPEED", 0.7)
    land_slow_alt: float = _of("MPC_LAND_ALT2", 5.0)
    takeoff_alt: float = _of("MIS_TAKEOFF_ALT", 2.5)
    return_alt: float = _of("RTL_RETURN_ALT", 30.0)
    acceptance_radius: float = _of("NAV_ACC_RAD", 2.0)
    stick_speed: float = _of("MPC_VEL_MANUAL", 10.0)
    disarm_after_land_s: float = _of("COM_DISARM_LAND", 2.0)  # negative: never
    disarm_preflight_s: float = _of("COM_DISARM_PRFLT", 10.0)  # negative: never
    # 0 warn, 2 land at critical, 3 return at critical, land at emergency
    low_battery_action: int = _of("COM_LOW_BAT_ACT", 3)
    link_loss_action: int = _of("NAV_DLL_ACT", 0)  # 0 none, 1 hold, 2 return, 3 land
    link_loss_s: float = _of("COM_DL_LOSS_T", 10.0)
    battery: BatteryThresholds = field(default_factory=BatteryThresholds)

    @classmethod
    def from_params(cls, value: Callable[[str], float]) -> FlightConfig:
        """Read every limit through `value(name)`, which raises KeyError for a parameter that does not exist."""
        own = [each for each in fields(cls) if each.metadata]
        limits = {each.name: type(getattr(cls, each.name))(value(each.metadata["param"])) for each in own}
        battery = BatteryThresholds(value("BAT_LOW_THR"), value("BAT_CRIT_THR"), value("BAT_EMERGEN_THR"))
        return cls(**limits, battery=battery)
