# SPDX-License-Identifier: Apache-2.0
"""Battery and vehicle state from mavros' topics. mavros_msgs is imported here alone, and only when it is asked for."""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import Any

from sensor_msgs.msg import BatteryState, NavSatFix
from std_msgs.msg import Float64

from pqc_mav_common.errors import ExitCode
from pqc_mav_common.qos import sensor
from pqc_mav_sensing import conversions, qos
from pqc_mav_sensing.battery_estimator import RawBattery
from pqc_mav_sensing.detailed import Detailed
from pqc_mav_sensing.errors import SensingError
from pqc_mav_sensing.vehicle_tracker import MOTION_LIMIT_S, VehicleTracker


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
        """`types`: the module with mavros' own messages; None = mavros_msgs.msg. Raises SensingError."""
        from geometry_msgs.msg import TwistStamped

        types = types or messages()
        self._vehicle, self._on_raw, self._lock = vehicle, on_raw, lock
        self._location = f"id{battery_id}"
        self._detailed = Detailed()
        self._best: dict[str, tuple[int, float]] = {}  # figure -> rank of the topic that gives it, and when it last did
        topics = (
            (BatteryState, "battery", self._on_battery, sensor()),
            (types.State, "state", self._on_state, qos.mavros_state()),
            (types.ExtendedState, "extended_state", self._on_extended, qos.mavros_state()),
            (types.VfrHud, "vfr_hud", self._on_hud, sensor()),
            (types.Altitude, "altitude", self._on_altitude, sensor()),
            (types.HomePosition, "home_position/home", self._on_home, sensor()),
            (NavSatFix, "global_position/global", self._on_place, sensor()),
            (Float64, "global_position/rel_alt", self._on_height, sensor()),
            (TwistStamped, "global_position/raw/gps_vel", self._on_gps_velocity, sensor()),
            (TwistStamped, "local_position/velocity_local", self._on_velocity, sensor()),
        )
        for kind, topic, callback, profile in topics:
            node.create_subscription(kind, f"/{namespace.strip('/')}/{topic}", callback, profile)

    def close(self) -> None:
        """Subscriptions end with their node."""

    def _on_battery(self, message: BatteryState) -> None:
        """Out of BATTERY_STATUS, whose battery `location` names; without a name out of SYS_STATUS, which says less."""
        at_s = time.monotonic()
        raw = conversions.raw_battery(message, at_s)
        if message.location == self._location:
            if message.voltage > 0:
                self._detailed.heard(at_s)
            else:
                raw = replace(raw, voltage_v=math.nan)  # not reported: SYS_STATUS may know more
        elif message.location or self._detailed.counts(at_s):
            return
        self._on_raw(raw)

    def _on_state(self, message: Any) -> None:
        if message.connected:  # false: mavros itself is the sender, not an autopilot
            with self._lock:
                self._vehicle.heartbeat(time.monotonic(), bool(message.armed), str(message.mode))

    def _on_extended(self, message: Any) -> None:
        with self._lock:
            self._vehicle.landed(time.monotonic(), int(message.landed_state))

    def _on_home(self, message: Any) -> None:
        with self._lock:
            self._vehicle.home(float(message.geo.latitude), float(message.geo.longitude))

    def _on_place(self, message: NavSatFix) -> None:
        if message.status.status >= 0:  # STATUS_FIX
            with self._lock:
                self._vehicle.place(time.monotonic(), float(message.latitude), float(message.longitude))

    def _on_hud(self, message: Any) -> None:
        self._motion(0, ground_speed_m_s=float(message.groundspeed), climb_m_s=float(message.climb))

    def _on_velocity(self, message: Any) -> None:
        """East, north, up."""
        linear = message.twist.linear
        self._motion(1, ground_speed_m_s=math.hypot(linear.x, linear.y), climb_m_s=linear.z)

    def _on_gps_velocity(self, message: Any) -> None:
        """East and north; mavros leaves 0 in the third."""
        self._motion(2, ground_speed_m_s=math.hypot(message.twist.linear.x, message.twist.linear.y))

    def _on_height(self, message: Float64) -> None:
        self._motion(0, altitude_m=float(message.data))

    def _on_altitude(self, message: Any) -> None:
        self._motion(1, altitude_m=float(message.relative))

    def _motion(self, rank: int, **figures: float) -> None:
        """Takes figures that no topic of a lower rank gives: two that differ a little would look like motion."""
        at_s = time.monotonic()
        for name, value in figures.items():
            best, last_s = self._best.get(name, (rank, at_s))
            if math.isnan(value) or (rank > best and at_s - last_s <= MOTION_LIMIT_S):
                continue
            self._best[name] = (rank, at_s)
            with self._lock:
                self._vehicle.motion(at_s, **{name: value})
