# SPDX-License-Identifier: Apache-2.0
"""From the cores' views to ROS messages, whose fields have the same names."""

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


def _filled(message: Any, *views: Any) -> Any:
    """The message with each field that a view has."""
    for name in message.get_fields_and_field_types():
        for view in views:
            if hasattr(view, name):
                value = getattr(view, name)
                setattr(message, name, list(value) if isinstance(value, tuple) else value)
    return message


def battery_message(state: BatteryFigures, source: str, chemistry: str, header: Header) -> BatteryHealth:
    """BatteryHealth; an unknown age is NaN."""
    return _filled(BatteryHealth(header=header, source=source, chemistry=chemistry), state)


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
        # Nor does it leave out a current of -1, "not measured": that arrives as one of 10 mA into the pack.
        current_a=-message.current if not math.isclose(message.current, 0.01, abs_tol=1e-6) else math.nan,
        remaining=message.percentage,
        # mavros leaves 0 where it has no temperature, and a pack at exactly 0.0 Cel is rarer than that.
        temperature_c=message.temperature if message.temperature != 0.0 else math.nan,
        cells=cells if cells > 1 else 0,
    )


def vehicle_message(view: VehicleView, source: str, header: Header) -> VehicleState:
    """VehicleState."""
    message: VehicleState = _filled(VehicleState(header=header, source=source), view)
    message.phase = int(view.phase)
    return message


def thermal_message(view: ThermalView, source: str, header: Header) -> ThermalState:
    """ThermalState."""
    return _filled(ThermalState(header=header, source=source), view)


def power_message(view: PowerView, header: Header) -> PowerSample:
    """PowerSample."""
    return _filled(PowerSample(header=header), view, view.summary)


def system_message(view: SystemView, header: Header) -> SystemLoad:
    """SystemLoad of a successful reading."""
    return _filled(SystemLoad(header=header, source="psutil", valid=True), view)
