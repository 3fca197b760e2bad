# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from pymavlink.dialects.v20 import common as mavlink
from sim_support import Bench

from pqc_mav_sim.airframe import GRAVITY
from pqc_mav_sim.frames import Decoder, parse_datagram
from pqc_mav_sim.modes import Event, FlightMode, Severity
from pqc_mav_sim.rates import STREAMS
from pqc_mav_sim.rotations import centidegrees, quaternion, to_body
from pqc_mav_sim.telemetry import statustext


def build(bench, name, t=None):
    """Return a telemetry message after a trip over the wire."""
    msg_id = getattr(mavlink, f"MAVLINK_MSG_ID_{name}")
    message = bench.pilot.telemetry.build(msg_id, bench.t if t is None else t)
    (frame,) = parse_datagram(message.pack(mavlink.MAVLink(None, srcSystem=1, srcComponent=1))).frames
    return Decoder().decode(frame)


@pytest.fixture
def cruising():
    bench = Bench(profile="auto", altitude_m=15.0, cruise_s=60.0)
    bench.run(25.0)
    assert bench.flight.airframe.motion.groundspeed > 1.0
    return bench


@pytest.mark.parametrize("spec", STREAMS, ids=lambda spec: spec.name)
def test_every_stream_can_be_packed_and_read_back(cruising, spec):
    assert build(cruising, spec.name).get_type() == spec.name


def test_positions_speeds_and_attitudes_agree(cruising):
    local, world = build(cruising, "LOCAL_POSITION_NED"), build(cruising, "GLOBAL_POSITION_INT")
    north, east = cruising.flight.frame.to_local(world.lat / 1e7, world.lon / 1e7)
    assert (north, east) == pytest.approx((local.x, local.y), abs=0.02)
    assert world.relative_alt / 1000.0 == pytest.approx(-local.z, abs=0.01)
    assert world.alt / 1000.0 == pytest.approx(488.0 - local.z, abs=0.01)
    assert (world.vx, world.vy) == pytest.approx((local.vx * 100, local.vy * 100), abs=1)
    hud = build(cruising, "VFR_HUD")
    assert hud.groundspeed == pytest.approx(math.hypot(local.vx, local.vy), rel=1e-3)
    assert hud.climb == pytest.approx(-local.vz, abs=1e-3)
    euler, quat = build(cruising, "ATTITUDE"), build(cruising, "ATTITUDE_QUATERNION")
    expected = quaternion(euler.roll, euler.pitch, euler.yaw)
    assert (quat.q1, quat.q2, quat.q3, quat.q4) == pytest.approx(expected, abs=1e-6)
    assert world.hdg == pytest.approx(centidegrees(euler.yaw), abs=1)


def test_two_samples_are_consistent_with_the_speed_between_them(cruising):
    first = build(cruising, "LOCAL_POSITION_NED")
    cruising.run(0.5)
    second = build(cruising, "LOCAL_POSITION_NED")
    seconds = (second.time_boot_ms - first.time_boot_ms) / 1000.0
    for axis, speed in (("x", "vx"), ("y", "vy"), ("z", "vz")):
        mean = 0.5 * (getattr(first, speed) + getattr(second, speed))
        assert getattr(second, axis) - getattr(first, axis) == pytest.approx(mean * seconds, abs=0.25)


def test_imu_shows_gravity_at_rest_and_its_temperature(bench):
    bench.run(1.0)
    imu = build(bench, "HIGHRES_IMU")
    assert (imu.xacc, imu.yacc, imu.zacc) == pytest.approx((0.0, 0.0, -GRAVITY), abs=0.3)
    assert imu.temperature == pytest.approx(bench.pilot.plant.thermal.avionics_c, abs=0.01)
    scaled = build(bench, "SCALED_IMU")
    assert scaled.zacc == pytest.approx(-1000, abs=30)
    assert imu.abs_pressure == pytest.approx(956.0, abs=2.0)  # 488 m in the standard atmosphere
    assert imu.pressure_alt == pytest.approx(488.0, abs=2.0)


def test_gps_scatters_around_the_truth(cruising):
    fixes = [build(cruising, "GPS_RAW_INT") for _ in range(50)]
    m = cruising.flight.airframe.motion
    places = [cruising.flight.frame.to_local(f.lat / 1e7, f.lon / 1e7) for f in fixes]
    errors = [math.hypot(n - m.north, e - m.east) for n, e in places]
    assert 0.05 < sum(errors) / len(errors) < 1.0


def test_battery_messages_agree(cruising):
    battery, system = build(cruising, "BATTERY_STATUS"), build(cruising, "SYS_STATUS")
    cells = [v for v in battery.voltages if v != 65535]
    assert len(cells) == 4
    assert sum(cells) == pytest.approx(system.voltage_battery, abs=4)
    assert battery.current_battery == system.current_battery > 500
    assert battery.battery_remaining == system.battery_remaining
    assert battery.temperature / 100.0 == pytest.approx(cruising.pilot.plant.thermal.battery_c, abs=0.01)
    assert battery.time_remaining > 600


def test_heartbeat_is_px4_and_follows_the_state(bench):
    beat = build(bench, "HEARTBEAT")
    assert (beat.autopilot, beat.type) == (mavlink.MAV_AUTOPILOT_PX4, mavlink.MAV_TYPE_QUADROTOR)
    assert beat.system_status == mavlink.MAV_STATE_CALIBRATING
    bench.run(2.0)
    assert build(bench, "HEARTBEAT").system_status == mavlink.MAV_STATE_STANDBY
    bench.flight.arm()
    beat = build(bench, "HEARTBEAT")
    assert beat.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED
    assert beat.system_status == mavlink.MAV_STATE_ACTIVE
    assert beat.custom_mode == FlightMode.HOLD.custom_mode


def test_landed_state_and_mission(cruising):
    assert build(cruising, "EXTENDED_SYS_STATE").landed_state == mavlink.MAV_LANDED_STATE_IN_AIR
    assert build(cruising, "MISSION_CURRENT").mission_state == mavlink.MISSION_STATE_NO_MISSION


def test_servo_outputs_show_the_motors(cruising, bench):
    assert build(bench, "SERVO_OUTPUT_RAW").servo1_raw == 900
    assert build(cruising, "SERVO_OUTPUT_RAW").servo1_raw == pytest.approx(1700, abs=120)


def test_time_stamps(bench):
    assert build(bench, "HIGHRES_IMU", 123.456789).time_usec == 123_456_789
    # 32-bit milliseconds wrap after 49.7 days of uptime instead of failing
    assert build(bench, "ATTITUDE", 2**32 / 1000.0 + 5.0).time_boot_ms == pytest.approx(5000, abs=1)


@pytest.mark.parametrize("length", [0, 1, 50, 51, 120])
def test_status_text_chunks(length):
    text = "x" * length
    messages = list(statustext(Event(Severity.INFO, text), 77))
    assert "".join(m.text for m in messages) == text
    assert [m.chunk_seq for m in messages] == list(range(max(1, math.ceil(length / 50))))
    assert {m.id for m in messages} == ({77} if length > 50 else {0})


def test_rotation_keeps_lengths_and_knows_north():
    rotated = to_body((1.0, 2.0, 3.0), 0.3, -0.4, 1.9)
    assert math.dist(rotated, (0, 0, 0)) == pytest.approx(math.sqrt(14.0))
    assert to_body((1.0, 0.0, 0.0), 0.0, 0.0, math.pi / 2) == pytest.approx((0.0, -1.0, 0.0), abs=1e-12)
