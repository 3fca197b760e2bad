# SPDX-License-Identifier: Apache-2.0
"""Flight limits taken from the parameter table, so that a PARAM_SET changes how the vehicle flies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pqc_mav_sim.battery import BatteryThresholds


@dataclass(frozen=True)
class FlightConfig:
    """Limits in m, m/s and s; names and meanings are those of the PX4 parameters next to them."""

    cruise_speed: float = 5.0  # MPC_XY_CRUISE
    climb_speed: float = 3.0  # MPC_Z_VEL_MAX_UP
    sink_speed: float = 1.5  # MPC_Z_VEL_MAX_DN
    takeoff_speed: float = 1.5  # MPC_TKO_SPEED
    land_speed: float = 0.7  # MPC_LAND_SPEED
    land_slow_alt: float = 5.0  # MPC_LAND_ALT2
    takeoff_alt: float = 2.5  # MIS_TAKEOFF_ALT
    return_alt: float = 30.0  # RTL_RETURN_ALT
    acceptance_radius: float = 2.0  # NAV_ACC_RAD
    stick_speed: float = 10.0  # MPC_VEL_MANUAL
    disarm_after_land_s: float = 2.0  # COM_DISARM_LAND; negative: never
    disarm_preflight_s: float = 10.0  # COM_DISARM_PRFLT; negative: never
    low_battery_action: int = 3  # COM_LOW_BAT_ACT: 0 warn, 2 land at critical, 3 return at critical, land at emergency
    link_loss_action: int = 0  # NAV_DLL_ACT: 0 none, 1 hold, 2 return, 3 land
    link_loss_s: float = 10.0  # COM_DL_LOSS_T
    battery: BatteryThresholds = field(default_factory=BatteryThresholds)

    @classmethod
    def from_params(cls, value: Callable[[str], float]) -> FlightConfig:
        """Read every limit through `value(name)`, which raises KeyError for a parameter that does not exist."""
        return cls(
            cruise_speed=value("MPC_XY_CRUISE"),
            climb_speed=value("MPC_Z_VEL_MAX_UP"),
            sink_speed=value("MPC_Z_VEL_MAX_DN"),
            takeoff_speed=value("MPC_TKO_SPEED"),
            land_speed=value("MPC_LAND_SPEED"),
            land_slow_alt=value("MPC_LAND_ALT2"),
            takeoff_alt=value("MIS_TAKEOFF_ALT"),
            return_alt=value("RTL_RETURN_ALT"),
            acceptance_radius=value("NAV_ACC_RAD"),
            stick_speed=value("MPC_VEL_MANUAL"),
            disarm_after_land_s=value("COM_DISARM_LAND"),
            disarm_preflight_s=value("COM_DISARM_PRFLT"),
            low_battery_action=int(value("COM_LOW_BAT_ACT")),
            link_loss_action=int(value("NAV_DLL_ACT")),
            link_loss_s=value("COM_DL_LOSS_T"),
            battery=BatteryThresholds(value("BAT_LOW_THR"), value("BAT_CRIT_THR"), value("BAT_EMERGEN_THR")),
        )
