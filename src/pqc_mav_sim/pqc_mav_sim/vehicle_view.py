# SPDX-License-Identifier: Apache-2.0
"""What a ground station knows about a vehicle, from the messages it received. No sockets, no clock."""

import struct
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Any

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.frames import Frame
from pqc_mav_sim.mav_types import Message
from pqc_mav_sim.modes import Landed, mode_from_custom
from pqc_mav_sim.param_table import ParamType

# messages whose first field on the wire is the sender's microsecond clock
STAMPED = frozenset(
    {
        mavlink.MAVLINK_MSG_ID_HIGHRES_IMU,
        mavlink.MAVLINK_MSG_ID_ALTITUDE,
        mavlink.MAVLINK_MSG_ID_GPS_RAW_INT,
        mavlink.MAVLINK_MSG_ID_VIBRATION,
        mavlink.MAVLINK_MSG_ID_ESTIMATOR_STATUS,
    }
)
_UNKNOWN_CURRENT = -1


def stamp_us(frame: Frame) -> int | None:
    """Return the sender's clock in microseconds when it sent a frame of a STAMPED message, None for any other."""
    if frame.msg_id not in STAMPED:
        return None
    return int.from_bytes(frame.payload[:8], "little")


def param_value(frame: Frame, kind: int) -> float:
    """Return the value in a PARAM_VALUE frame, whose integers are sent bytewise."""
    formats = {ParamType.REAL32: "<f", ParamType.INT32: "<i", mavlink.MAV_PARAM_TYPE_UINT32: "<I"}
    return float(struct.unpack_from(formats.get(kind, "<f"), frame.payload)[0])


@dataclass
class VehicleView:
    """The newest values, None until a message tells them; m and degrees. `ready`: arming would be accepted."""

    sysid: int | None = None
    mode: str | None = None
    ready: bool | None = None
    armed: bool | None = None
    landed: str | None = None
    latitude_deg: float | None = None
    longitude_deg: float | None = None
    relative_altitude_m: float | None = None
    home_amsl_m: float | None = None
    battery_v: float | None = None
    battery_a: float | None = None
    battery_percent: int | None = None
    battery_c: float | None = None
    heartbeats: int = 0
    texts: deque[str] = field(default_factory=lambda: deque(maxlen=50))

    DECODED = frozenset(
        {
            mavlink.MAVLINK_MSG_ID_HEARTBEAT,
            mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT,
            mavlink.MAVLINK_MSG_ID_BATTERY_STATUS,
            mavlink.MAVLINK_MSG_ID_SYS_STATUS,
            mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE,
            mavlink.MAVLINK_MSG_ID_STATUSTEXT,
        }
    )

    def update(self, msg: Message) -> None:
        """Take one message of DECODED from the vehicle's autopilot."""
        match msg.get_msgId():
            case mavlink.MAVLINK_MSG_ID_HEARTBEAT:
                self.heartbeats += 1
                self.sysid = msg.get_srcSystem()
                mode = mode_from_custom(msg.custom_mode)
                self.mode = mode.name if mode else f"0x{msg.custom_mode:08x}"
                self.armed = bool(msg.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED)
            case mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT:
                self.latitude_deg = msg.lat / 1e7
                self.longitude_deg = msg.lon / 1e7
                self.relative_altitude_m = msg.relative_alt / 1000.0
                self.home_amsl_m = (msg.alt - msg.relative_alt) / 1000.0
            case mavlink.MAVLINK_MSG_ID_BATTERY_STATUS:
                self.battery_c = msg.temperature / 100.0
            case mavlink.MAVLINK_MSG_ID_SYS_STATUS:
                self.battery_v = msg.voltage_battery / 1000.0
                known = msg.current_battery != _UNKNOWN_CURRENT
                self.battery_a = msg.current_battery / 100.0 if known else None
                self.battery_percent = msg.battery_remaining
                self.ready = bool(msg.onboard_control_sensors_health & mavlink.MAV_SYS_STATUS_PREARM_CHECK)
            case mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE:
                known_states = {state.value: state.name for state in Landed}
                self.landed = known_states.get(msg.landed_state, "UNDEFINED")
            case mavlink.MAVLINK_MSG_ID_STATUSTEXT:
                self.texts.append(msg.text)

    def to_dict(self) -> dict[str, Any]:
        """Return all values, ready for JSON."""
        values = asdict(self)
        values["texts"] = list(self.texts)
        return values
