# SPDX-License-Identifier: Apache-2.0
"""Battery and vehicle state out of datagrams of MAVLink. No socket and no clock: bytes and time in, readings out.

The stream carries hundreds of messages a second, of which a handful matter here: frames are found by their header, the
others are skipped undecoded, and only those that matter are checked and decoded by pymavlink. Each datagram is judged
alone, so a broken one cannot swallow the next. Layout: https://mavlink.io/en/guide/serialization.html.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from pymavlink import mavutil
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sensing.battery_estimator import RawBattery
from pqc_mav_sensing.vehicle_tracker import VehicleTracker

NAN = math.nan
MAX_DATAGRAM = 2048
_V1, _V2 = 0xFE, 0xFD
_UNKNOWN_MV = 0xFFFF
_UNKNOWN_CDEG = 0x7FFF
# SYS_STATUS repeats what BATTERY_STATUS says in more detail: where that one comes, this one is left alone.
_DETAILED_LIMIT_S = 2.0
WANTED = frozenset(
    {
        mavlink.MAVLINK_MSG_ID_HEARTBEAT,
        mavlink.MAVLINK_MSG_ID_SYS_STATUS,
        mavlink.MAVLINK_MSG_ID_BATTERY_STATUS,
        mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT,
        mavlink.MAVLINK_MSG_ID_VFR_HUD,
        mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE,
    }
)


def frames(datagram: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """(message id, system, component, frame) of every frame whose header fits into the datagram."""
    at, size = 0, min(len(datagram), MAX_DATAGRAM)
    while at + 8 <= size:
        magic, length = datagram[at], datagram[at + 1]
        if magic == _V2 and at + 12 <= size:
            end = at + 12 + length + (13 if datagram[at + 2] & mavlink.MAVLINK_IFLAG_SIGNED else 0)
            msg_id = int.from_bytes(datagram[at + 7 : at + 10], "little")
            sender = datagram[at + 5], datagram[at + 6]
        elif magic == _V1:
            end = at + 8 + length
            msg_id, sender = datagram[at + 5], (datagram[at + 3], datagram[at + 4])
        else:
            at += 1
            continue
        if end > size:
            at += 1
            continue
        yield msg_id, *sender, datagram[at:end]
        at = end


class MavlinkReader:
    """Feeds a `VehicleTracker` and yields battery readings. `system` 0: the first autopilot heard."""

    def __init__(self, vehicle: VehicleTracker, *, system: int = 0, battery_id: int = 0) -> None:
        self._vehicle = vehicle
        self._system = system
        self._battery_id = battery_id
        self._mav = mavlink.MAVLink(None)
        self._detailed_s = -math.inf
        self.frames = 0  # that mattered and were good
        self.broken = 0  # that mattered by their header and could not be decoded

    def read(self, datagram: bytes, at_s: float) -> list[RawBattery]:
        """Takes one datagram that arrived at `at_s`. Returns the battery readings in it."""
        readings = []
        for msg_id, system, component, frame in frames(datagram):
            if msg_id not in WANTED or component != mavlink.MAV_COMP_ID_AUTOPILOT1:
                continue
            if self._system and system != self._system:
                continue
            try:
                message = self._mav.decode(bytearray(frame))
            except (mavlink.MAVError, ValueError, IndexError, TypeError):
                self.broken += 1
                continue
            if not self._system and msg_id != mavlink.MAVLINK_MSG_ID_HEARTBEAT:
                continue  # whose figures these are is not settled yet
            reading = self._take(message, system, at_s)
            self.frames += 1
            if reading is not None:
                readings.append(reading)
        return readings

    def _take(self, message: Any, system: int, at_s: float) -> RawBattery | None:
        match message.get_msgId():
            case mavlink.MAVLINK_MSG_ID_HEARTBEAT:
                if message.autopilot != mavlink.MAV_AUTOPILOT_INVALID and message.type != mavlink.MAV_TYPE_GCS:
                    self._system = system
                    armed = bool(message.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED)
                    self._vehicle.heartbeat(at_s, armed, str(mavutil.mode_string_v10(message)))
            case mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT:
                self._vehicle.motion(at_s, altitude_m=message.relative_alt / 1000.0)
            case mavlink.MAVLINK_MSG_ID_VFR_HUD:
                self._vehicle.motion(at_s, ground_speed_m_s=message.groundspeed, climb_m_s=message.climb)
            case mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE:
                self._vehicle.landed(at_s, message.landed_state)
            case mavlink.MAVLINK_MSG_ID_BATTERY_STATUS if message.id == self._battery_id:
                reading = _from_battery_status(message, at_s)
                if math.isnan(reading.voltage_v):
                    return None  # a placeholder: SYS_STATUS may know more
                self._detailed_s = at_s
                return reading
            case mavlink.MAVLINK_MSG_ID_SYS_STATUS if at_s - self._detailed_s > _DETAILED_LIMIT_S:
                return _from_sys_status(message, at_s)
        return None


def _from_battery_status(message: Any, at_s: float) -> RawBattery:
    extra = [volt for volt in message.voltages_ext if volt not in (0, _UNKNOWN_MV)]
    volts = [volt for volt in message.voltages if volt != _UNKNOWN_MV] + extra
    # Autopilots that know the pack as a whole put it into the first field, and it may need more than one.
    single = len(volts) == 1 or (len(volts) > 1 and volts[0] == _UNKNOWN_MV - 1)
    return RawBattery(
        at_s=at_s,
        voltage_v=sum(volts) / 1000.0 if volts else NAN,
        current_a=message.current_battery / 100.0 if message.current_battery != -1 else NAN,
        remaining=message.battery_remaining / 100.0 if message.battery_remaining >= 0 else NAN,
        temperature_c=message.temperature / 100.0 if message.temperature != _UNKNOWN_CDEG else NAN,
        cells=0 if single else len(volts),
    )


def _from_sys_status(message: Any, at_s: float) -> RawBattery:
    return RawBattery(
        at_s=at_s,
        voltage_v=message.voltage_battery / 1000.0 if message.voltage_battery != _UNKNOWN_MV else NAN,
        current_a=message.current_battery / 100.0 if message.current_battery != -1 else NAN,
        remaining=message.battery_remaining / 100.0 if message.battery_remaining >= 0 else NAN,
    )
