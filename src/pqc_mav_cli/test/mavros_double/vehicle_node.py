# SPDX-License-Identifier: Apache-2.0
"""The double's node for the vehicle: topics and services of the plugins that the suite loads."""

from __future__ import annotations

import math
import threading
from fnmatch import fnmatch
from typing import Any

from geometry_msgs.msg import TwistStamped, Vector3
from mavros_msgs.msg import Altitude, ExtendedState, Mavlink, State
from mavros_msgs.srv import CommandBool
from pymavlink import mavutil
from pymavlink.dialects.v20 import common as mavlink
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Float64

from mavros_double.router import LINK, to_frame, to_ros

STATE = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SENSOR = qos_profile_sensor_data
ONBOARD_COMPUTER = mavlink.MAV_COMP_ID_ONBOARD_COMPUTER
ACK_S, CONNECTION_S = 5.0, 10.0
TOPICS = (
    ("sys_status", State, "state", STATE),
    ("sys_status", ExtendedState, "extended_state", STATE),
    ("sys_status", BatteryState, "battery", SENSOR),
    ("global_position", TwistStamped, "global_position/raw/gps_vel", SENSOR),
    ("global_position", Float64, "global_position/rel_alt", SENSOR),
    ("local_position", TwistStamped, "local_position/velocity_local", SENSOR),
    ("altitude", Altitude, "altitude", SENSOR),
)


class VehicleNode(Node):
    """What mavros calls UAS."""

    def __init__(self, uas_url: str, tgt_system: int, tgt_component: int) -> None:
        super().__init__("mavros")
        self._target = tgt_system, tgt_component
        self._allowed = self.declare_parameter("plugin_allowlist", ["*"]).value or []
        system = int(self.declare_parameter("system_id", tgt_system).value or 0)
        self._mav = mavlink.MAVLink(None, srcSystem=system, srcComponent=ONBOARD_COMPUTER)
        self._decoder = mavlink.MAVLink(None)
        self._acks: dict[int, int] = {}
        self._acked = threading.Condition()
        self._heard_s, self._detailed = -math.inf, False
        self._sink = self.create_publisher(Mavlink, f"{uas_url}/mavlink_sink", LINK)
        self._publishers = {
            topic: self.create_publisher(kind, topic, profile)
            for plugin, kind, topic, profile in TOPICS
            if self.allows(plugin)
        }
        self._say("state", State())
        self.create_subscription(Mavlink, f"{uas_url}/mavlink_source", self._on_ros, LINK)
        group = ReentrantCallbackGroup()
        if self.allows("command"):
            self.create_service(CommandBool, "cmd/arming", self._arm, callback_group=group)

    def allows(self, plugin: str) -> bool:
        """Whether the list has this plugin."""
        return any(fnmatch(plugin, pattern) for pattern in self._allowed)

    def _now_s(self) -> float:
        return self.get_clock().now().nanoseconds / 1e9

    def _say(self, topic: str, message: Any) -> None:
        if topic in self._publishers:
            self._publishers[topic].publish(message)

    def _send(self, message: Any) -> None:
        message.pack(self._mav)
        self._mav.seq = (self._mav.seq + 1) % 256
        self._sink.publish(to_ros(message))

    def beat(self) -> None:
        """What its plugin sys_status does at every heartbeat."""
        kind = mavlink.MAV_TYPE_ONBOARD_CONTROLLER, mavlink.MAV_AUTOPILOT_INVALID
        self._send(mavlink.MAVLink_heartbeat_message(*kind, 0, 0, mavlink.MAV_STATE_ACTIVE, 3))
        if self._now_s() - self._heard_s > CONNECTION_S:
            self._say("state", State())

    def _arm(self, request: CommandBool.Request, response: CommandBool.Response) -> CommandBool.Response:
        command = mavlink.MAV_CMD_COMPONENT_ARM_DISARM
        with self._acked:
            self._acks.pop(command, None)
            self._send(
                mavlink.MAVLink_command_long_message(*self._target, command, 1, float(request.value), *[0.0] * 6)
            )
            response.success = self._acked.wait_for(lambda: command in self._acks, ACK_S)
            response.result = self._acks.get(command, mavlink.MAV_RESULT_FAILED)
        response.success = response.success and response.result == mavlink.MAV_RESULT_ACCEPTED
        return response

    def _on_ros(self, carried: Mavlink) -> None:
        if (carried.sysid, carried.compid) != self._target:
            return
        message = self._decoder.decode(bytearray(to_frame(carried)))
        handler = getattr(self, f"_on_{message.get_type().lower()}", None)
        if handler is not None:
            handler(message)

    def _on_heartbeat(self, message: Any) -> None:
        self._heard_s = self._now_s()
        armed = bool(message.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED)
        mode = str(mavutil.mode_string_v10(message))
        self._say("state", State(connected=True, armed=armed, mode=mode, system_status=message.system_status))

    def _on_command_ack(self, message: Any) -> None:
        with self._acked:
            self._acks[message.command] = message.result
            self._acked.notify_all()

    def _on_battery_status(self, message: Any) -> None:
        volts = [volt / 1000.0 for volt in message.voltages if volt != 0xFFFF]
        self._detailed = self._detailed or message.id == 0
        self._battery(sum(volts), message, f"id{message.id}", volts)

    def _on_sys_status(self, message: Any) -> None:
        if not self._detailed:
            self._battery(message.voltage_battery / 1000.0, message, "", [])

    def _battery(self, volts: float, message: Any, location: str, cells: list[float]) -> None:
        current_a, remaining = message.current_battery / 100.0, message.battery_remaining / 100.0
        self._say(
            "battery",
            BatteryState(
                voltage=volts,
                current=-current_a,
                percentage=remaining,
                cell_voltage=cells,
                location=location,
                present=True,
            ),
        )

    def _on_extended_sys_state(self, message: Any) -> None:
        self._say("extended_state", ExtendedState(vtol_state=message.vtol_state, landed_state=message.landed_state))

    def _on_altitude(self, message: Any) -> None:
        self._say("altitude", Altitude(relative=message.altitude_relative, amsl=message.altitude_amsl))

    def _on_global_position_int(self, message: Any) -> None:
        self._say("global_position/rel_alt", Float64(data=message.relative_alt / 1000.0))

    def _on_gps_raw_int(self, message: Any) -> None:
        if message.vel != 0xFFFF and message.cog != 0xFFFF:
            speed, course = message.vel / 100.0, math.radians(message.cog / 100.0)
            self._velocity("global_position/raw/gps_vel", speed * math.sin(course), speed * math.cos(course), 0.0)

    def _on_local_position_ned(self, message: Any) -> None:
        self._velocity("local_position/velocity_local", message.vy, message.vx, -message.vz)

    def _velocity(self, topic: str, east: float, north: float, up: float) -> None:
        message = TwistStamped()
        message.twist.linear = Vector3(x=east, y=north, z=up)
        self._say(topic, message)
