# SPDX-License-Identifier: Apache-2.0
"""Battery and vehicle state from mavros' topics. mavros_msgs is imported here alone, and only when it is asked for."""

from __future__ import annotations

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
        vehicle: VehicleTracker,
        on_raw: Callable[[RawBattery], None],
        lock: Lock,
        types: Any = None,
    ) -> None:
        """`types`: the module with State, ExtendedState and VfrHud; None = mavros_msgs.msg. Raises SensingError."""
        types = types or messages()
        self._vehicle, self._on_raw, self._lock = vehicle, on_raw, lock
        base = "/" + namespace.strip("/")
        node.create_subscription(BatteryState, f"{base}/battery", self._on_battery, qos.mavros_sensor())
        node.create_subscription(types.State, f"{base}/state", self._on_state, qos.mavros_state())
        node.create_subscription(types.ExtendedState, f"{base}/extended_state", self._on_extended, qos.mavros_state())
        node.create_subscription(types.VfrHud, f"{base}/vfr_hud", self._on_hud, qos.mavros_sensor())
        node.create_subscription(Float64, f"{base}/global_position/rel_alt", self._on_height, qos.mavros_sensor())

    def close(self) -> None:
        """Subscriptions end with their node."""

    def _on_battery(self, message: BatteryState) -> None:
        self._on_raw(conversions.raw_battery(message, time.monotonic()))

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
