# SPDX-License-Identifier: Apache-2.0
"""Builds the telemetry messages from the state of the plant. One function per message, found by message id."""

import math
import random
from collections.abc import Callable, Iterator

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.battery import BatteryLevel
from pqc_mav_sim.modes import Event, FlightMode
from pqc_mav_sim.plant import Plant
from pqc_mav_sim.rotations import boot_ms, boot_us, centidegrees, quaternion
from pqc_mav_sim.sensors import Sensors

_NAN = float("nan")
_SENSORS = (
    mavlink.MAV_SYS_STATUS_SENSOR_3D_GYRO
    | mavlink.MAV_SYS_STATUS_SENSOR_3D_ACCEL
    | mavlink.MAV_SYS_STATUS_SENSOR_3D_MAG
    | mavlink.MAV_SYS_STATUS_SENSOR_ABSOLUTE_PRESSURE
    | mavlink.MAV_SYS_STATUS_SENSOR_GPS
    | mavlink.MAV_SYS_STATUS_SENSOR_ANGULAR_RATE_CONTROL
    | mavlink.MAV_SYS_STATUS_SENSOR_ATTITUDE_STABILIZATION
    | mavlink.MAV_SYS_STATUS_SENSOR_MOTOR_OUTPUTS
    | mavlink.MAV_SYS_STATUS_AHRS
    | mavlink.MAV_SYS_STATUS_SENSOR_BATTERY
    | mavlink.MAV_SYS_STATUS_PREARM_CHECK
)
_BATTERY_STATES = {
    BatteryLevel.OK: mavlink.MAV_BATTERY_CHARGE_STATE_OK,
    BatteryLevel.LOW: mavlink.MAV_BATTERY_CHARGE_STATE_LOW,
    BatteryLevel.CRITICAL: mavlink.MAV_BATTERY_CHARGE_STATE_CRITICAL,
    BatteryLevel.EMERGENCY: mavlink.MAV_BATTERY_CHARGE_STATE_EMERGENCY,
    BatteryLevel.DEPLETED: mavlink.MAV_BATTERY_CHARGE_STATE_FAILED,
}
STATUSTEXT_CHUNK = 50


def statustext(event: Event, text_id: int) -> Iterator[mavlink.MAVLink_statustext_message]:
    """Yield the STATUSTEXT messages of an event; text over 50 bytes is sent in numbered chunks."""
    text = event.text.encode("ascii", "replace")
    chunks = [text[i : i + STATUSTEXT_CHUNK] for i in range(0, len(text), STATUSTEXT_CHUNK)] or [b""]
    chunk_id = text_id if len(chunks) > 1 else 0
    for i, chunk in enumerate(chunks):
        yield mavlink.MAVLink_statustext_message(event.severity, chunk, chunk_id, i)


class Telemetry:
    """Message builders over one plant. Times are seconds since boot; `unix_offset` turns them into UNIX time."""

    def __init__(self, plant: Plant, *, seed: int = 1, unix_offset: float = 0.0) -> None:
        self.plant = plant
        self.unix_offset = unix_offset
        self.load_permille = 120
        self.sensors = Sensors(plant, seed)
        self._rng = random.Random(seed)
        self._builders: dict[int, Callable[[float], mavlink.MAVLink_message]] = {
            mavlink.MAVLINK_MSG_ID_HEARTBEAT: self._heartbeat,
            mavlink.MAVLINK_MSG_ID_SYS_STATUS: self._sys_status,
            mavlink.MAVLINK_MSG_ID_SYSTEM_TIME: self._system_time,
            mavlink.MAVLINK_MSG_ID_GPS_RAW_INT: self.sensors.gps_raw_int,
            mavlink.MAVLINK_MSG_ID_SCALED_IMU: self.sensors.scaled_imu,
            mavlink.MAVLINK_MSG_ID_HIGHRES_IMU: self.sensors.highres_imu,
            mavlink.MAVLINK_MSG_ID_SCALED_PRESSURE: self.sensors.scaled_pressure,
            mavlink.MAVLINK_MSG_ID_ATTITUDE: self._attitude,
            mavlink.MAVLINK_MSG_ID_ATTITUDE_QUATERNION: self._attitude_quaternion,
            mavlink.MAVLINK_MSG_ID_LOCAL_POSITION_NED: self._local_position_ned,
            mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT: self._global_position_int,
            mavlink.MAVLINK_MSG_ID_SERVO_OUTPUT_RAW: self._servo_output_raw,
            mavlink.MAVLINK_MSG_ID_MISSION_CURRENT: self._mission_current,
            mavlink.MAVLINK_MSG_ID_RC_CHANNELS: self._rc_channels,
            mavlink.MAVLINK_MSG_ID_VFR_HUD: self._vfr_hud,
            mavlink.MAVLINK_MSG_ID_ATTITUDE_TARGET: self._attitude_target,
            mavlink.MAVLINK_MSG_ID_POSITION_TARGET_LOCAL_NED: self._position_target,
            mavlink.MAVLINK_MSG_ID_ALTITUDE: self._altitude,
            mavlink.MAVLINK_MSG_ID_BATTERY_STATUS: self._battery_status,
            mavlink.MAVLINK_MSG_ID_ESTIMATOR_STATUS: self.sensors.estimator_status,
            mavlink.MAVLINK_MSG_ID_VIBRATION: self.sensors.vibration,
            mavlink.MAVLINK_MSG_ID_HOME_POSITION: self._home_position,
            mavlink.MAVLINK_MSG_ID_GPS_GLOBAL_ORIGIN: self._gps_global_origin,
            mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE: self._extended_sys_state,
        }

    def can_build(self, msg_id: int) -> bool:
        """Whether this vehicle has a message."""
        return msg_id in self._builders

    def build(self, msg_id: int, t: float) -> mavlink.MAVLink_message:
        """Return the message as it is at t; KeyError for an id that `can_build` denies."""
        return self._builders[msg_id](t)

    # state

    def _heartbeat(self, _t: float) -> mavlink.MAVLink_message:
        flight = self.plant.flight
        base = mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | mavlink.MAV_MODE_FLAG_STABILIZE_ENABLED
        if flight.mode.is_auto:
            base |= mavlink.MAV_MODE_FLAG_GUIDED_ENABLED | mavlink.MAV_MODE_FLAG_AUTO_ENABLED
        else:
            base |= mavlink.MAV_MODE_FLAG_MANUAL_INPUT_ENABLED
        if flight.armed:
            base |= mavlink.MAV_MODE_FLAG_SAFETY_ARMED
        if not flight.ready:
            state = mavlink.MAV_STATE_CALIBRATING
        elif flight.failsafe.level >= BatteryLevel.EMERGENCY:
            state = mavlink.MAV_STATE_EMERGENCY
        elif flight.failsafe.level is BatteryLevel.CRITICAL or (flight.failsafe.link_lost and flight.armed):
            state = mavlink.MAV_STATE_CRITICAL
        else:
            state = mavlink.MAV_STATE_ACTIVE if flight.armed else mavlink.MAV_STATE_STANDBY
        return mavlink.MAVLink_heartbeat_message(
            mavlink.MAV_TYPE_QUADROTOR, mavlink.MAV_AUTOPILOT_PX4, base, flight.mode.custom_mode, state, 3
        )

    def _sys_status(self, _t: float) -> mavlink.MAVLink_message:
        battery, flight = self.plant.battery, self.plant.flight
        # no geofence is present or enabled, and an absent one is not breached
        healthy = _SENSORS | mavlink.MAV_SYS_STATUS_GEOFENCE
        if not flight.ready:
            healthy &= ~mavlink.MAV_SYS_STATUS_PREARM_CHECK
        return mavlink.MAVLink_sys_status_message(
            _SENSORS,
            _SENSORS,
            healthy,
            self.load_permille,
            round(battery.voltage * 1000),
            min(round(battery.current * 100), 32767),
            battery.remaining_percent,
            *(0, 0, 0, 0, 0, 0),
        )

    def _extended_sys_state(self, _t: float) -> mavlink.MAVLink_message:
        return mavlink.MAVLink_extended_sys_state_message(
            mavlink.MAV_VTOL_STATE_UNDEFINED, self.plant.flight.landed.value
        )

    def _system_time(self, t: float) -> mavlink.MAVLink_message:
        return mavlink.MAVLink_system_time_message(round((t + self.unix_offset) * 1e6), boot_ms(t))

    def _mission_current(self, _t: float) -> mavlink.MAVLink_message:
        flight = self.plant.flight
        plan = flight.mission
        if not plan.items:
            state = mavlink.MISSION_STATE_NO_MISSION
        elif plan.finished:
            state = mavlink.MISSION_STATE_COMPLETE
        elif flight.mode is FlightMode.MISSION and flight.armed:
            state = mavlink.MISSION_STATE_ACTIVE
        else:
            state = mavlink.MISSION_STATE_NOT_STARTED if plan.current == 0 else mavlink.MISSION_STATE_PAUSED
        current = min(plan.current, max(len(plan.items) - 1, 0))
        return mavlink.MAVLink_mission_current_message(current, len(plan.items) or 65535, state, 0)

    def _battery_status(self, _t: float) -> mavlink.MAVLink_message:
        battery, thermal = self.plant.battery, self.plant.thermal
        cell = round(battery.voltage / battery.spec.cells * 1000)
        level = battery.level(self.plant.flight.config.battery)
        return mavlink.MAVLink_battery_status_message(
            0,
            mavlink.MAV_BATTERY_FUNCTION_ALL,
            mavlink.MAV_BATTERY_TYPE_LIPO,
            round(thermal.battery_c * 100),
            [cell] * battery.spec.cells + [65535] * (10 - battery.spec.cells),
            min(round(battery.current * 100), 32767),
            round(battery.consumed_ah * 1000),
            round(battery.energy_wh * 36),
            battery.remaining_percent,
            battery.time_remaining_s or 0,
            _BATTERY_STATES[level],
        )

    # motion

    def _attitude(self, t: float) -> mavlink.MAVLink_message:
        m = self.plant.flight.airframe.motion
        return mavlink.MAVLink_attitude_message(boot_ms(t), m.roll, m.pitch, m.yaw, m.p, m.q, m.r)

    def _attitude_quaternion(self, t: float) -> mavlink.MAVLink_message:
        m = self.plant.flight.airframe.motion
        return mavlink.MAVLink_attitude_quaternion_message(
            boot_ms(t), *quaternion(m.roll, m.pitch, m.yaw), m.p, m.q, m.r
        )

    def _local_position_ned(self, t: float) -> mavlink.MAVLink_message:
        m = self.plant.flight.airframe.motion
        return mavlink.MAVLink_local_position_ned_message(boot_ms(t), m.north, m.east, m.down, m.vn, m.ve, m.vd)

    def _global_position_int(self, t: float) -> mavlink.MAVLink_message:
        flight = self.plant.flight
        m = flight.airframe.motion
        lat, lon = flight.frame.to_geodetic(m.north, m.east)
        return mavlink.MAVLink_global_position_int_message(
            boot_ms(t),
            round(lat * 1e7),
            round(lon * 1e7),
            round((flight.frame.alt_m + m.altitude) * 1000),
            round((m.altitude - flight.home.altitude) * 1000),
            round(m.vn * 100),
            round(m.ve * 100),
            round(m.vd * 100),
            centidegrees(m.yaw),
        )

    def _vfr_hud(self, _t: float) -> mavlink.MAVLink_message:
        flight = self.plant.flight
        m = flight.airframe.motion
        throttle = 100.0 * m.thrust_n / flight.airframe.spec.max_thrust_n
        return mavlink.MAVLink_vfr_hud_message(
            m.airspeed,
            m.groundspeed,
            centidegrees(m.yaw) // 100,
            round(throttle),
            flight.frame.alt_m + m.altitude,
            -m.vd,
        )

    def _altitude(self, t: float) -> mavlink.MAVLink_message:
        flight = self.plant.flight
        height = flight.airframe.motion.altitude
        amsl = flight.frame.alt_m + height
        return mavlink.MAVLink_altitude_message(
            boot_us(t), amsl, amsl, height, height - flight.home.altitude, _NAN, height
        )

    # control

    def _servo_output_raw(self, t: float) -> mavlink.MAVLink_message:
        flight, gauss = self.plant.flight, self._rng.gauss
        if flight.armed:
            share = max(flight.airframe.motion.thrust_n, 0.0) / flight.airframe.spec.max_thrust_n
            # thrust goes with the square of the speed, and the speed with the pulse
            pulses = [round(1000 + 1000 * math.sqrt(share) + gauss(0.0, 4.0)) for _ in range(4)]
        else:
            pulses = [900] * 4
        return mavlink.MAVLink_servo_output_raw_message(boot_us(t) & 0xFFFFFFFF, 0, *pulses, 0, 0, 0, 0)

    def _rc_channels(self, t: float) -> mavlink.MAVLink_message:
        return mavlink.MAVLink_rc_channels_message(boot_ms(t), 0, *([65535] * 18), 255)

    def _attitude_target(self, t: float) -> mavlink.MAVLink_message:
        airframe = self.plant.flight.airframe
        m = airframe.motion
        share = m.thrust_n / airframe.spec.max_thrust_n
        return mavlink.MAVLink_attitude_target_message(
            boot_ms(t), 0, quaternion(m.roll, m.pitch, m.yaw), m.p, m.q, m.r, share
        )

    def _position_target(self, t: float) -> mavlink.MAVLink_message:
        target = self.plant.flight.target
        ignore_all_but_position_and_yaw = 0x9F8
        return mavlink.MAVLink_position_target_local_ned_message(
            boot_ms(t),
            mavlink.MAV_FRAME_LOCAL_NED,
            ignore_all_but_position_and_yaw,
            *(target.north, target.east, -target.altitude),
            *(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
            target.yaw,
            0.0,
        )

    def _home_position(self, t: float) -> mavlink.MAVLink_message:
        flight = self.plant.flight
        home = flight.home
        lat, lon = flight.frame.to_geodetic(home.north, home.east)
        return mavlink.MAVLink_home_position_message(
            round(lat * 1e7),
            round(lon * 1e7),
            round((flight.frame.alt_m + home.altitude) * 1000),
            *(home.north, home.east, -home.altitude),
            quaternion(0.0, 0.0, home.yaw),
            *(_NAN, _NAN, _NAN),
            boot_us(t),
        )

    def _gps_global_origin(self, t: float) -> mavlink.MAVLink_message:
        frame = self.plant.flight.frame
        return mavlink.MAVLink_gps_global_origin_message(
            round(frame.lat_deg * 1e7), round(frame.lon_deg * 1e7), round(frame.alt_m * 1000), boot_us(t)
        )
