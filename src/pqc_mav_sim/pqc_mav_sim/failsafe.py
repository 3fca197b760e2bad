# SPDX-License-Identifier: Apache-2.0
"""What the vehicle does on its own when the battery runs down or the ground station falls silent."""

from dataclasses import dataclass

from pqc_mav_sim.battery import BatteryLevel
from pqc_mav_sim.flight_config import FlightConfig
from pqc_mav_sim.modes import Event, FlightMode, Severity

_BATTERY_EVENTS = {
    BatteryLevel.LOW: Event(Severity.WARNING, "Low battery, return advised"),
    BatteryLevel.CRITICAL: Event(Severity.CRITICAL, "Critical battery, return now"),
    BatteryLevel.EMERGENCY: Event(Severity.EMERGENCY, "Dangerous battery level, land now"),
    BatteryLevel.DEPLETED: Event(Severity.EMERGENCY, "Battery empty, motors stopped"),
}
_LINK_ACTIONS = {1: FlightMode.HOLD, 2: FlightMode.RTL, 3: FlightMode.LAND}


@dataclass
class Failsafe:
    """Remembers what was already reported, so each transition acts once and the pilot may override it."""

    level: BatteryLevel = BatteryLevel.OK
    link_lost: bool = False

    def battery(self, level: BatteryLevel, config: FlightConfig) -> tuple[Event | None, FlightMode | None]:
        """Return what to report and which mode to force when the level got worse, else (None, None)."""
        worse = level > self.level
        self.level = level
        if not worse:
            return None, None
        mode = None
        if level is BatteryLevel.CRITICAL and config.low_battery_action in (2, 3):
            mode = FlightMode.LAND if config.low_battery_action == 2 else FlightMode.RTL
        elif level is BatteryLevel.EMERGENCY and config.low_battery_action in (2, 3):
            mode = FlightMode.LAND
        return _BATTERY_EVENTS[level], mode

    def link(self, lost: bool, config: FlightConfig) -> tuple[Event | None, FlightMode | None]:
        """Return what to report and which mode to force when the ground station was lost or came back."""
        if lost == self.link_lost:
            return None, None
        self.link_lost = lost
        if not lost:
            return Event(Severity.INFO, "GCS connection regained"), None
        return Event(Severity.WARNING, "GCS connection lost"), _LINK_ACTIONS.get(config.link_loss_action)
