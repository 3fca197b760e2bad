# SPDX-License-Identifier: Apache-2.0
"""From the cores' views to ROS messages, field by field."""

import math
from typing import Any

from pqc_mav_interfaces.msg import BatteryHealth, PowerSample, SystemLoad, ThermalState, VehicleState
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Header

from pqc_mav_sensing.battery_estimator import BatteryState as BatteryFigures
from pqc_mav_sensing.battery_estimator import RawBattery
from pqc_mav_sensing.power_sampler import PowerView
from pqc_mav_sensing.system_reader import SystemView
from pqc_mav_sensing.thermal_monitor import ThermalView
from pqc_mav_sensing.vehicle_tracker import VehicleView

_TECHNOLOGIES = {
    "lipo": BatteryState.POWER_SUPPLY_TECHNOLOGY_LIPO,
    "liion": BatteryState.POWER_SUPPLY_TECHNOLOGY_LION,
    "lifepo4": BatteryState.POWER_SUPPLY_TECHNOLOGY_LIFE,
    "nimh": BatteryState.POWER_SUPPLY_TECHNOLOGY_NIMH,
}


def _fill(message: Any, view: Any, *names: str) -> Any:
    for name in names:
        setattr(message, name, getattr(view, name))
    return message


def battery_message(state: BatteryFigures, source: str, chemistry: str, header: Header) -> BatteryHealth:
    """BatteryHealth; an unknown age is NaN."""
    message = BatteryHealth(header=header, source=source, chemistry=chemistry)
    return _fill(
        message,
        state,
        *("valid", "reason", "age_s", "voltage_v", "current_a", "temperature_c", "voltage_rate_mv_per_min"),
        *("state_of_charge", "reported_remaining", "used_mah", "effective_capacity_mah", "endurance_s", "cells"),
    )


def battery_state_message(raw: RawBattery, chemistry: str, header: Header) -> BatteryState:
    """sensor_msgs/BatteryState of a reading as it arrived: current negative while discharging, NaN = not measured."""
    return BatteryState(
        header=header,
        voltage=raw.voltage_v,
        temperature=raw.temperature_c,
        current=-raw.current_a,
        charge=math.nan,
        capacity=math.nan,
        design_capacity=math.nan,
        percentage=raw.remaining,
        power_supply_technology=_TECHNOLOGIES.get(chemistry, BatteryState.POWER_SUPPLY_TECHNOLOGY_UNKNOWN),
        present=True,
    )


def raw_battery(message: BatteryState, at_s: float) -> RawBattery:
    """The other way, from mavros."""
    cells = len([volt for volt in message.cell_voltage if math.isfinite(volt) and volt > 0])
    return RawBattery(
        at_s=at_s,
        voltage_v=message.voltage,
        current_a=-message.current,
        remaining=message.percentage,
        # mavros leaves 0 where it has no temperature, and a pack at exactly 0.0 Cel is rarer than that.
        temperature_c=message.temperature if message.temperature != 0.0 else math.nan,
        cells=cells if cells > 1 else 0,
    )


def vehicle_message(view: VehicleView, source: str, header: Header) -> VehicleState:
    """VehicleState."""
    message = VehicleState(header=header, source=source, phase=int(view.phase))
    return _fill(
        message,
        view,
        *("valid", "reason", "armed", "mode", "heartbeat_age_s"),
        *("relative_altitude_m", "north_m", "east_m", "ground_speed_m_s", "climb_rate_m_s"),
    )


def thermal_message(view: ThermalView, source: str, header: Header) -> ThermalState:
    """ThermalState."""
    message = ThermalState(header=header, source=source)
    message.zone_types = list(view.zone_types)
    message.zone_temperatures_c = list(view.zone_temperatures_c)
    return _fill(
        message,
        view,
        *("valid", "reason", "temperature_c", "zone", "rate_c_per_min", "trip_passive_c", "trip_critical_c"),
        *("throttled", "throttle_reason"),
    )


def power_message(view: PowerView, header: Header) -> PowerSample:
    """PowerSample."""
    message = PowerSample(header=header)
    _fill(message, view, "source", "measured", "valid", "reason", "energy_j", "target_rate_hz", "resolution")
    return _fill(
        message,
        view.summary,
        *("interval_s", "voltage_v", "current_a", "power_mean_w", "power_min_w", "power_peak_w"),
        *("samples", "rate_hz", "duplicates", "overflows", "errors"),
    )


def system_message(view: SystemView, header: Header) -> SystemLoad:
    """SystemLoad of a successful reading."""
    message = SystemLoad(header=header, source="psutil", valid=True, core_percent=list(view.core_percent))
    return _fill(
        message,
        view,
        *("cpu_percent", "load_1", "load_5", "load_15", "cpu_mhz"),
        *("memory_used_mib", "memory_total_mib", "swap_used_mib"),
        *("disk_used_percent", "disk_read_bytes", "disk_write_bytes", "interface"),
        *("net_rx_bytes", "net_tx_bytes", "net_rx_packets", "net_tx_packets", "net_errors", "net_drops"),
    )
