# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymavlink.dialects.v20 import common as mavlink
from sim_support import Bench

from pqc_mav_sim.modes import FlightMode

ACCEPTED = mavlink.MAV_RESULT_ACCEPTED
REJECTED = mavlink.MAV_RESULT_TEMPORARILY_REJECTED
DENIED = mavlink.MAV_RESULT_DENIED
UNSUPPORTED = mavlink.MAV_RESULT_UNSUPPORTED
NAN = math.nan
ARM = mavlink.MAV_CMD_COMPONENT_ARM_DISARM
TAKEOFF = mavlink.MAV_CMD_NAV_TAKEOFF


@pytest.fixture
def ready(bench):
    bench.run(2.0)
    return bench


@pytest.fixture
def flying(ready):
    assert ready.command(ARM, 1)[0] == ACCEPTED
    assert ready.command(TAKEOFF, 0, 0, 0, NAN, NAN, NAN, NAN)[0] == ACCEPTED
    ready.run_until(lambda: ready.flight.mode is FlightMode.HOLD)
    return ready


def types(messages):
    return [m.get_type() for m in messages]


def test_arm_and_disarm(ready):
    assert ready.command(ARM, 1)[0] == ACCEPTED
    assert ready.flight.armed
    assert ready.command(ARM, 0)[0] == ACCEPTED
    assert not ready.flight.armed
    for nonsense in (0.3e39, 7.0, NAN, math.inf):
        assert ready.command(ARM, nonsense)[0] == DENIED


def test_arming_too_early_is_rejected_with_a_sentence(bench):
    assert bench.command(ARM, 1)[0] == REJECTED
    bench.run()
    assert any("position" in text for text in bench.texts())


def test_take_off_while_disarmed_is_rejected(ready):
    assert ready.command(TAKEOFF)[0] == REJECTED
    assert any("arm first" in text for text in ready.texts())
    assert not ready.flight.armed


@pytest.mark.parametrize(
    ("altitude", "goal"), [(NAN, 2.5), (10.0, 2.5), (488.0 + 20.0, 20.0), (488.0 + 0.2, 2.5), (math.inf, 2.5)]
)
def test_take_off_altitude_is_amsl_and_below_the_vehicle_means_the_default(ready, altitude, goal):
    ready.command(ARM, 1)
    assert ready.command(TAKEOFF, 0, 0, 0, NAN, NAN, NAN, altitude)[0] == ACCEPTED
    assert ready.flight.target.altitude == pytest.approx(goal, abs=1e-3)


def test_take_off_altitude_in_command_int_follows_its_frame(ready):
    ready.command(ARM, 1)
    relative = mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT
    int_max = 2**31 - 1
    message = mavlink.MAVLink_command_int_message(1, 1, relative, TAKEOFF, 0, 0, 0, 0, 0, 0, int_max, int_max, 12.0)
    (ack,) = [m for m in ready.send(message) if m.get_type() == "COMMAND_ACK"]
    assert ack.result == ACCEPTED
    assert ready.flight.target.altitude == 12.0


def test_disarm_in_the_air_needs_the_magic_number(flying):
    assert flying.command(ARM, 0)[0] == DENIED
    assert flying.flight.armed
    assert flying.command(ARM, 0, 21196)[0] == ACCEPTED
    assert not flying.flight.armed


def test_land_hold_and_return(flying):
    assert flying.command(mavlink.MAV_CMD_NAV_LAND)[0] == ACCEPTED
    assert flying.flight.mode is FlightMode.LAND
    assert flying.command(mavlink.MAV_CMD_NAV_LOITER_UNLIM)[0] == ACCEPTED
    assert flying.flight.mode is FlightMode.HOLD
    assert flying.command(mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH)[0] == ACCEPTED
    assert flying.flight.mode is FlightMode.RTL


@pytest.mark.parametrize(
    ("params", "result", "mode"),
    [
        ((1, 4, 3), ACCEPTED, FlightMode.HOLD),
        ((1, 4, 6), ACCEPTED, FlightMode.LAND),
        ((1, 4, 5), ACCEPTED, FlightMode.RTL),
        ((1, float(FlightMode.LAND.custom_mode)), ACCEPTED, FlightMode.LAND),
        ((1, 3, 0), REJECTED, FlightMode.HOLD),
        ((1, 4, 4), REJECTED, FlightMode.HOLD),
        ((1, 1, 0), UNSUPPORTED, FlightMode.HOLD),
        ((1, 99, 99), UNSUPPORTED, FlightMode.HOLD),
        ((1, NAN, NAN), DENIED, FlightMode.HOLD),
    ],
)
def test_set_mode(flying, params, result, mode):
    assert flying.command(mavlink.MAV_CMD_DO_SET_MODE, *params)[0] == result
    assert flying.flight.mode is mode


def test_old_set_mode_message(flying):
    answers = flying.send(mavlink.MAVLink_set_mode_message(1, 29, FlightMode.LAND.custom_mode))
    assert [m.result for m in answers if m.get_type() == "COMMAND_ACK"] == [ACCEPTED]
    assert flying.flight.mode is FlightMode.LAND


def test_reposition(flying):
    lat, lon = flying.flight.frame.to_geodetic(30.0, -20.0)
    result, _ = flying.command(mavlink.MAV_CMD_DO_REPOSITION, -1, 1, 0, NAN, lat, lon, 488.0 + 15.0)
    assert result == ACCEPTED
    target = flying.flight.target
    # COMMAND_LONG carries degrees in a float32, which is good to about a metre
    assert (target.north, target.east, target.altitude) == pytest.approx((30.0, -20.0, 15.0), abs=1.0)
    far = flying.command(mavlink.MAV_CMD_DO_REPOSITION, -1, 1, 0, NAN, -lat, lon, 500.0)
    assert far[0] == DENIED


def test_flight_termination_stops_the_motors(flying):
    assert flying.command(mavlink.MAV_CMD_DO_FLIGHTTERMINATION, 0.0)[0] == ACCEPTED
    assert flying.flight.armed
    assert flying.command(mavlink.MAV_CMD_DO_FLIGHTTERMINATION, 1.0)[0] == ACCEPTED
    assert not flying.flight.armed


def test_set_home_and_get_home(flying):
    assert flying.command(mavlink.MAV_CMD_DO_SET_HOME, 0, 0, 0, 0, NAN, NAN, NAN)[0] == DENIED
    assert flying.command(mavlink.MAV_CMD_DO_SET_HOME, 1)[0] == ACCEPTED
    result, extra = flying.command(mavlink.MAV_CMD_GET_HOME_POSITION)
    assert (result, types(extra)) == (ACCEPTED, ["HOME_POSITION"])
    assert extra[0].altitude == pytest.approx((488.0 + 2.4) * 1000, abs=200)


def test_speed(flying):
    assert flying.command(mavlink.MAV_CMD_DO_CHANGE_SPEED, 1, 7.0, -1)[0] == ACCEPTED
    assert flying.flight.mission.speed == 7.0
    for bad in (0.0, 99.0, NAN):
        assert flying.command(mavlink.MAV_CMD_DO_CHANGE_SPEED, 1, bad, -1)[0] == DENIED


@pytest.mark.parametrize("name", ["ATTITUDE", "HEARTBEAT", "AUTOPILOT_VERSION", "HOME_POSITION", "GPS_GLOBAL_ORIGIN"])
def test_request_message(bench, name):
    msg_id = getattr(mavlink, f"MAVLINK_MSG_ID_{name}")
    result, extra = bench.command(mavlink.MAV_CMD_REQUEST_MESSAGE, msg_id)
    assert (result, types(extra)) == (ACCEPTED, [name])


@pytest.mark.parametrize("msg_id", [259.0, 123456.0, -1.0, NAN, math.inf, 3e38])
def test_request_of_a_message_we_do_not_have(bench, msg_id):
    assert bench.command(mavlink.MAV_CMD_REQUEST_MESSAGE, msg_id) == (UNSUPPORTED, [])


def test_capabilities(bench):
    result, (version,) = bench.command(mavlink.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES, 1)
    assert result == ACCEPTED
    assert version.capabilities & mavlink.MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE
    assert version.capabilities & mavlink.MAV_PROTOCOL_CAPABILITY_MAVLINK2
    assert not version.capabilities & mavlink.MAV_PROTOCOL_CAPABILITY_FTP
    assert version.flight_sw_version >> 24 == 1
    (again,) = bench.command(mavlink.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES, 1)[1]
    assert again.uid == version.uid
    assert Bench(seed=2).command(mavlink.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES, 1)[1][0].uid != version.uid


def test_message_interval(bench):
    attitude = mavlink.MAVLINK_MSG_ID_ATTITUDE
    set_it, get_it = mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, mavlink.MAV_CMD_GET_MESSAGE_INTERVAL
    assert bench.command(set_it, attitude, 200_000)[0] == ACCEPTED
    result, (interval,) = bench.command(get_it, attitude)
    assert (result, interval.message_id, interval.interval_us) == (ACCEPTED, attitude, 200_000)
    requested = bench.command(mavlink.MAV_CMD_REQUEST_MESSAGE, mavlink.MAVLINK_MSG_ID_MESSAGE_INTERVAL, attitude)
    assert requested[1][0].interval_us == 200_000
    assert bench.command(set_it, 259, 200_000)[0] == UNSUPPORTED
    assert bench.command(set_it, attitude, 1)[0] == DENIED
    assert bench.command(set_it, attitude, NAN)[0] == DENIED
    assert bench.command(set_it, NAN, 1)[0] == UNSUPPORTED
    assert bench.command(get_it, -5)[0] == DENIED
    assert bench.command(get_it, 259)[1][0].interval_us == 0


def test_pause_continue_and_mission_items(flying):
    assert flying.command(mavlink.MAV_CMD_DO_PAUSE_CONTINUE, 0)[0] == ACCEPTED
    assert flying.command(mavlink.MAV_CMD_DO_PAUSE_CONTINUE, 1)[0] == REJECTED  # no mission
    assert flying.command(mavlink.MAV_CMD_DO_PAUSE_CONTINUE, NAN)[0] == DENIED
    assert flying.command(mavlink.MAV_CMD_DO_SET_MISSION_CURRENT, 5)[0] == DENIED
    assert flying.command(mavlink.MAV_CMD_DO_SET_MISSION_CURRENT, NAN)[0] == DENIED
    assert flying.command(mavlink.MAV_CMD_MISSION_START)[0] == REJECTED


def test_prearm_checks_and_reboot(bench):
    assert bench.command(mavlink.MAV_CMD_RUN_PREARM_CHECKS)[0] == mavlink.MAV_RESULT_FAILED
    bench.run(2.0)
    assert bench.command(mavlink.MAV_CMD_RUN_PREARM_CHECKS)[0] == ACCEPTED
    assert bench.command(mavlink.MAV_CMD_PREFLIGHT_REBOOT_SHUTDOWN, 1)[0] == DENIED
    bench.command(ARM, 1)
    assert bench.command(mavlink.MAV_CMD_RUN_PREARM_CHECKS)[0] == REJECTED


@pytest.mark.parametrize("command", [mavlink.MAV_CMD_DO_PARACHUTE, mavlink.MAV_CMD_PREFLIGHT_CALIBRATION, 0, 65535])
def test_everything_else_is_unsupported(bench, command):
    assert bench.command(command)[0] == UNSUPPORTED


NASTY = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, NAN, math.inf, -math.inf, 3.4e38, 2.0**31, 2.0**53, 21196.0]),
    st.floats(-500.0, 500.0, width=32),
)
KNOWN = sorted(Bench().pilot._commands._table)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KNOWN), st.tuples(*[NASTY] * 7)), min_size=1, max_size=6), st.booleans())
def test_no_parameters_of_any_known_command_break_the_vehicle(commands, airborne):
    bench = Bench()
    bench.run(1.5)
    if airborne:
        bench.flight.arm()
        bench.flight.takeoff(10.0)
        bench.run(3.0)
    for command, params in commands:
        result, extra = bench.command(command, *params)
        assert result in (ACCEPTED, REJECTED, DENIED, UNSUPPORTED, mavlink.MAV_RESULT_FAILED)
        for message in extra + bench.run(1.0):
            message.pack(bench.client)
        m = bench.flight.airframe.motion
        assert math.isfinite(m.north + m.east + m.down + m.yaw)
    for msg_id in bench.pilot.due(bench.t):
        bench.pilot.telemetry.build(msg_id, bench.t).pack(bench.client)
