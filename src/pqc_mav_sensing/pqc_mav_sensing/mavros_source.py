# SPDX-License-Identifier: Apache-2.0
"""Battery and vehicle state from mavros' topics. mavros_msgs is imported here alone, and only when it is asked for."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from sensor_msgs.msg import BatteryState
from std_msgs.msg import Float64

from pqc_mav_common.errors import ExitCode
from pqc_mav_sensing import conversions, qos
from pqc_mav_sensing.battery_estimator import RawBattery
from pqc_mav_sensing.errors import SensingError
from pqc_mav_sensing.vehicle_tracker import VehicleTracker

DETAILED_LIMIT_S = 2.0  # how long BATTERY_STATUS outweighs SYS_STATUS, as in mavlink_reader.py


def messages() -> Any:
    """The module mavros_msgs.msg. Raises SensingError where it is not installed."""
    try:
        import mavros_msgs.msg
    except ImportError:
        raise SensingError(
            "mavlink:=mavros needs the ROS 2 package mavros_msgs, which is not installed here "
            "(apt install ros-$ROS_DISTRO-mavros); mavlink:=udp works without it.",
            ExitCode.CONFIG,
        ) from None
    return mavros_msgs.msg


class MavrosSource:
    """Subscribes with the QoS mavros publishes with: battery is best effort, a reliable subscriber would get none."""

    problem = ""

    def __init__(
        self,
        node: Any,
        namespace: str,
        battery_id: int,
        vehicle: VehicleTracker,
        on_raw: Callable[[RawBattery], None],
        lock: Lock,
        types: Any = None,
    ) -> None:
        """`types`: the module with State, ExtendedState and VfrHud; None = mavros_msgs.msg. Raises SensingError."""
        types = types or messages()
        self._vehicle, self._on_raw, self._lock = vehicle, on_raw, lock
        self._location = f"id{battery_id}"
        self._detailed_s = -math.inf
        base = "/" + namespace.strip("/")
        node.create_subscription(BatteryState, f"{base}/battery", self._on_battery, qos.mavros_sensor())
        node.create_subscription(types.State, f"{base}/state", self._on_state, qos.mavros_state())
        node.create_subscription(types.ExtendedState, f"{base}/extended_state", self._on_extended, qos.mavros_state())
        node.create_subscription(types.VfrHud, f"{base}/vfr_hud", self._on_hud, qos.mavros_sensor())
        node.create_subscription(Float64, f"{base}/global_position/rel_alt", self._on_height, qos.mavros_sensor())

    def close(self) -> None:
        """Subscriptions end with their node."""

    def _on_battery(self, message: BatteryState) -> None:
        """Out of BATTERY_STATUS, whose battery `location` names; without a name out of SYS_STATUS, which says less."""
        at_s = time.monotonic()
        if message.location == self._location:
            if not message.voltage > 0:
                return  # a placeholder: SYS_STATUS may know more
            self._detailed_s = at_s
        elif message.location or at_s - self._detailed_s <= DETAILED_LIMIT_S:
            return
        self._on_raw(conversions.raw_battery(message, at_s))

    def _on_state(self, message: Any) -> None:
        if message.connected:  # false: mavros itself is the sender, not an autopilot
            with self._lock:
                self._vehicle.heartbeat(time.monotonic(), bool(message.armed), str(message.mode))

    def _on_extended(self, message: Any) -> None:
        with self._lock:
            self._vehicle.landed(time.monotonic(), int(message.landed_state))

    def _on_hud(self, message: Any) -> None:
        with self._lock:
            self._vehicle.motion(
                time.monotonic(), ground_speed_m_s=float(message.groundspeed), climb_m_s=float(message.climb)
            )

    def _on_height(self, message: Float64) -> None:
        with self._lock:
            self._vehicle.motion(time.monotonic(), altitude_m=float(message.data))
