# SPDX-License-Identifier: Apache-2.0
"""Battery and vehicle state out of datagrams of MAVLink. No socket and no clock: bytes and time in, readings out.

The stream carries hundreds of messages a second, of which a handful matter here: frames are found by their header, the
others are skipped undecoded, and only those that matter are checked and decoded. Each datagram is judged alone, so a
broken one cannot swallow the next.
"""

import math

from pqc_mav_sensing.battery_estimator import RawBattery
from pqc_mav_sensing.detailed import Detailed
from pqc_mav_sensing.flight_modes import mode_name
from pqc_mav_sensing.mavlink_messages import (
    AUTOPILOT,
    LAYOUTS,
    ONBOARD_COMPUTER,
    SET_MESSAGE_INTERVAL,
    BatteryStatus,
    CommandAck,
    Heartbeat,
    Home,
    Hud,
    LandedState,
    Message,
    Position,
    SysStatus,
    decode,
    frames,
)
from pqc_mav_sensing.stream_requests import StreamRequests
from pqc_mav_sensing.vehicle_tracker import VehicleTracker

NAN = math.nan
WANTED = frozenset(LAYOUTS)
_ARMED = 128  # MAV_MODE_FLAG_SAFETY_ARMED
_NO_AUTOPILOT, _GROUND_STATION = 8, 6  # MAV_AUTOPILOT_INVALID, MAV_TYPE_GCS
_UNKNOWN_MV = 0xFFFF
_UNKNOWN_CDEG = 0x7FFF
# Position and speed come many times a second and are looked at less often: what comes sooner than this is skipped.
_MOTION = frozenset({33, 74})  # GLOBAL_POSITION_INT, VFR_HUD
_MOTION_S = 0.1
# An autopilot that has been silent for longer than it starts may come back with another id.
LET_GO_S = 30.0


class MavlinkReader:
    """Feeds a `VehicleTracker` and yields battery readings. `system` 0: the first autopilot heard."""

    def __init__(
        self,
        vehicle: VehicleTracker,
        *,
        system: int = 0,
        battery_id: int = 0,
        requests: StreamRequests | None = None,
    ) -> None:
        """`requests`: hears which messages come, and what the autopilot answers."""
        self._vehicle = vehicle
        self._requests = requests
        self._system, self._given = system, bool(system)
        self._heard_s = -math.inf  # its newest heartbeat
        self._battery_id = battery_id
        self._detailed = Detailed()
        self._moved_s = dict.fromkeys(_MOTION, -math.inf)  # when each was last read
        self.broken = 0  # that mattered by their header and could not be decoded

    @property
    def system(self) -> int:
        """System id of the vehicle; 0 while it is not known."""
        return self._system

    def read(self, datagram: bytes, at_s: float) -> list[RawBattery]:
        """Takes one datagram that arrived at `at_s`. Returns the battery readings in it."""
        readings = []
        for frame in frames(datagram):
            if frame.msg_id not in WANTED or frame.component != AUTOPILOT:
                continue
            if self._system and frame.system != self._system:
                if self._given or at_s - self._heard_s <= LET_GO_S:
                    continue
                self._system = 0
            motion = frame.msg_id in _MOTION
            if motion and 0.0 <= at_s - self._moved_s[frame.msg_id] < _MOTION_S:
                continue
            message = decode(frame)
            if message is None:
                self.broken += 1
                continue
            if not self._system and not isinstance(message, Heartbeat):
                continue  # whose figures these are is not settled yet
            if motion:
                self._moved_s[frame.msg_id] = at_s
            reading = self._take(message, frame.system, at_s)
            if self._requests is not None and frame.system == self._system:
                self._requests.heard(frame.msg_id, at_s)
            if reading is not None:
                readings.append(reading)
        return readings

    def _take(self, message: Message, system: int, at_s: float) -> RawBattery | None:
        match message:
            case Heartbeat():
                if message.autopilot != _NO_AUTOPILOT and message.type != _GROUND_STATION:
                    self._system, self._heard_s = system, at_s
                    self._vehicle.heartbeat(at_s, bool(message.base_mode & _ARMED), mode_name(message))
            case Position():
                self._vehicle.motion(at_s, altitude_m=message.relative_alt_mm / 1000.0)
                if message.lat or message.lon:  # both are 0 without a fix
                    self._vehicle.place(at_s, message.lat / 1e7, message.lon / 1e7)
            case Home():
                self._vehicle.home(message.latitude / 1e7, message.longitude / 1e7)
            case Hud():
                self._vehicle.motion(at_s, ground_speed_m_s=message.groundspeed, climb_m_s=message.climb)
            case LandedState():
                self._vehicle.landed(at_s, message.landed_state)
            case CommandAck() if self._requests is not None and _is_ours(message, system):
                self._requests.answered(message.result, at_s)
            case BatteryStatus() if message.id == self._battery_id:
                reading = _from_battery_status(message, at_s)
                if not math.isnan(reading.voltage_v):  # else SYS_STATUS may know more
                    self._detailed.heard(at_s)
                return reading
            case SysStatus() if not self._detailed.counts(at_s):
                return _from_sys_status(message, at_s)
        return None


def _is_ours(message: CommandAck, system: int) -> bool:
    """Whether it answers a request of this computer; MAVLink 1 and old autopilots do not say whom they answer."""
    to = message.target_system, message.target_component
    return message.command == SET_MESSAGE_INTERVAL and to in ((system, ONBOARD_COMPUTER), (0, 0))


def _from_battery_status(message: BatteryStatus, at_s: float) -> RawBattery:
    extra = [volt for volt in message.voltages_ext_mv if volt not in (0, _UNKNOWN_MV)]
    volts = [volt for volt in message.voltages_mv if volt != _UNKNOWN_MV] + extra
    # Autopilots that know the pack as a whole put it into the first field, and it may need more than one.
    single = len(volts) == 1 or (len(volts) > 1 and volts[0] == _UNKNOWN_MV - 1)
    return RawBattery(
        at_s=at_s,
        voltage_v=sum(volts) / 1000.0 if volts else NAN,
        current_a=message.current_ca / 100.0 if message.current_ca != -1 else NAN,
        remaining=message.remaining / 100.0 if message.remaining >= 0 else NAN,
        temperature_c=message.temperature_cdeg / 100.0 if message.temperature_cdeg != _UNKNOWN_CDEG else NAN,
        cells=0 if single else len(volts),
    )


def _from_sys_status(message: SysStatus, at_s: float) -> RawBattery:
    return RawBattery(
        at_s=at_s,
        voltage_v=message.voltage_mv / 1000.0 if message.voltage_mv != _UNKNOWN_MV else NAN,
        current_a=message.current_ca / 100.0 if message.current_ca != -1 else NAN,
        remaining=message.remaining / 100.0 if message.remaining >= 0 else NAN,
    )
