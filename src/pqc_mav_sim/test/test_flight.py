# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sim_support import Stepper

from pqc_mav_sim.battery import BatteryLevel
from pqc_mav_sim.flight_config import FlightConfig
from pqc_mav_sim.guidance import Sticks
from pqc_mav_sim.mission_plan import MissionItem, NavCommand
from pqc_mav_sim.modes import FlightMode, Landed, Result


def texts(flight):
    return [event.text for event in flight.events]


def test_arming_waits_for_the_position(stepper):
    stepper.step()
    outcome = stepper.flight.arm()
    assert outcome.result is Result.TEMPORARILY_REJECTED
    assert "position" in outcome.text
    stepper.run(1.5)
    assert stepper.flight.arm().ok
    assert stepper.flight.arm().ok  # again is no error


def test_a_whole_flight(stepper):
    flight = stepper.flight
    m = flight.airframe.motion
    stepper.run(2.0)
    assert flight.takeoff(10.0).result is Result.TEMPORARILY_REJECTED
    assert flight.land().result is Result.TEMPORARILY_REJECTED
    assert flight.arm().ok
    assert flight.takeoff(10.0).ok
    stepper.run(1.0)
    assert flight.landed is Landed.TAKEOFF
    assert flight.disarm().result is Result.DENIED
    stepper.run_until(lambda: flight.mode is FlightMode.HOLD)
    assert flight.landed is Landed.IN_AIR
    assert m.altitude == pytest.approx(10.0, abs=0.3)
    stepper.run(10.0)
    assert m.altitude == pytest.approx(10.0, abs=0.05)
    assert math.hypot(m.north, m.east) < 0.1
    assert flight.land().ok
    stepper.run_until(lambda: flight.landed is Landed.ON_GROUND)
    assert flight.armed
    waited = stepper.run_until(lambda: not flight.armed)
    assert waited == pytest.approx(flight.config.disarm_after_land_s, abs=0.1)
    assert m.altitude == 0.0
    assert texts(flight) == ["Armed by external command", "Takeoff detected", "Landing detected", "Disarmed by landing"]


def test_armed_without_take_off_disarms_itself(stepper):
    stepper.run(2.0)
    stepper.flight.arm()
    waited = stepper.run_until(lambda: not stepper.flight.armed)
    assert waited == pytest.approx(stepper.flight.config.disarm_preflight_s, abs=0.1)
    never = Stepper(FlightConfig(disarm_preflight_s=-1.0))
    never.run(2.0)
    never.flight.arm()
    never.run(60.0)
    assert never.flight.armed


@pytest.mark.parametrize("altitude", [math.nan, math.inf, -5.0, 0.0, 10_000.0])
def test_take_off_to_nowhere_is_denied(stepper, altitude):
    stepper.run(2.0)
    stepper.flight.arm()
    assert stepper.flight.takeoff(altitude).result is Result.DENIED
    stepper.run(3.0)
    assert stepper.flight.airframe.motion.on_ground


def test_goto_flies_there_and_holds(stepper):
    flight = stepper.fly(20.0)
    assert flight.goto(60.0, -40.0, 30.0).ok
    m = flight.airframe.motion
    top_speed = 0.0
    for _ in range(3000):
        stepper.step()
        top_speed = max(top_speed, m.groundspeed)
    assert (m.north, m.east, m.altitude) == pytest.approx((60.0, -40.0, 30.0), abs=0.2)
    assert top_speed == pytest.approx(flight.config.cruise_speed, abs=0.3)


@pytest.mark.parametrize("place", [(math.nan, 0.0, 10.0), (9e9, 0.0, 10.0), (0.0, 0.0, math.nan), (0.0, 0.0, -3.0)])
def test_goto_nowhere_is_denied(stepper, place):
    flight = stepper.fly()
    assert flight.goto(*place).result is Result.DENIED


def test_return_climbs_comes_home_and_lands(stepper):
    flight = stepper.fly(10.0)
    flight.goto(50.0, 50.0, 10.0)
    stepper.run(25.0)
    assert flight.return_home().ok
    peak = 0.0

    def down():
        nonlocal peak
        peak = max(peak, flight.airframe.motion.altitude)
        return not flight.armed

    stepper.run_until(down)
    m = flight.airframe.motion
    assert math.hypot(m.north, m.east) < 2.0
    assert peak == pytest.approx(flight.config.return_alt, abs=1.5)


def test_forced_disarm_in_flight_falls(stepper):
    flight = stepper.fly(20.0)
    assert flight.disarm(force=True).ok
    assert not flight.armed
    stepper.run(1.0)
    assert flight.airframe.motion.vd > 5.0
    stepper.run_until(lambda: flight.landed is Landed.ON_GROUND)


def test_sticks_fly_in_position_mode_only(stepper):
    flight = stepper.fly(20.0)
    assert flight.set_mode(FlightMode.POSCTL).result is Result.TEMPORARILY_REJECTED
    flight.sticks(Sticks(forward=1.0))
    assert flight.set_mode(FlightMode.POSCTL).ok
    for _ in range(200):
        flight.sticks(Sticks(forward=0.5))
        stepper.step()
    assert flight.airframe.motion.vn == pytest.approx(0.5 * flight.config.stick_speed, abs=0.2)
    stepper.run(1.0)
    assert flight.mode is FlightMode.HOLD
    assert "Manual control lost, holding" in texts(flight)


def test_low_battery_returns_and_lands(stepper):
    flight = stepper.fly(20.0)
    flight.goto(80.0, 0.0, 20.0)
    stepper.run(20.0)
    stepper.level = BatteryLevel.CRITICAL
    stepper.step()
    assert flight.mode is FlightMode.RTL
    stepper.level = BatteryLevel.EMERGENCY
    stepper.step()
    assert flight.mode is FlightMode.LAND
    stepper.run_until(lambda: not flight.armed)
    assert flight.arm().result is Result.TEMPORARILY_REJECTED
    assert flight.arm(force=True).ok


def test_empty_battery_stops_the_motors(stepper):
    flight = stepper.fly(20.0)
    stepper.level = BatteryLevel.DEPLETED
    stepper.step()
    assert not flight.armed
    stepper.run_until(lambda: flight.landed is Landed.ON_GROUND)
    assert flight.arm(force=True).result is Result.DENIED


def test_link_loss_action(stepper):
    stepper.flight.config = FlightConfig(link_loss_action=2)
    flight = stepper.fly(20.0)
    flight.goto(50.0, 0.0, 20.0)
    stepper.run(20.0)
    stepper.link_lost = True
    stepper.step()
    assert flight.mode is FlightMode.RTL


def waypoint(seq, north, east, altitude, frame):
    lat, lon = frame.to_geodetic(north, east)
    return MissionItem(seq, 6, NavCommand.WAYPOINT, (0.0, 0.0, 0.0, 0.0), lat, lon, altitude)


def test_mission_from_the_ground_to_the_ground(stepper):
    flight = stepper.flight
    stepper.run(2.0)
    assert flight.start_mission().result is Result.TEMPORARILY_REJECTED
    none = (0.0, 0.0, 0.0, 0.0)
    flight.mission.items = [
        MissionItem(0, 6, NavCommand.TAKEOFF, none, 0.0, 0.0, 15.0),
        MissionItem(1, 2, NavCommand.CHANGE_SPEED, (0.0, 8.0, 0.0, 0.0), 0.0, 0.0, 0.0),
        waypoint(2, 60.0, 0.0, 15.0, flight.frame),
        waypoint(3, 60.0, 40.0, 25.0, flight.frame),
        MissionItem(4, 2, NavCommand.RETURN, none, 0.0, 0.0, 0.0),
    ]
    assert flight.start_mission().result is Result.TEMPORARILY_REJECTED  # not armed
    flight.arm()
    assert flight.start_mission().ok
    fastest = 0.0

    def done():
        nonlocal fastest
        fastest = max(fastest, flight.airframe.motion.groundspeed)
        return not flight.armed

    stepper.run_until(done)
    assert flight.reached == [0, 1, 2, 3]
    assert fastest > 7.0
    m = flight.airframe.motion
    assert math.hypot(m.north, m.east) < 2.0


def test_mission_that_ends_in_the_air_holds(stepper):
    flight = stepper.fly(20.0)
    flight.mission.items = [waypoint(0, 20.0, 0.0, 20.0, flight.frame)]
    assert flight.set_mode(FlightMode.MISSION).ok
    stepper.run_until(lambda: flight.mode is FlightMode.HOLD)
    assert "Mission finished, holding" in texts(flight)
    assert flight.mission.finished


def test_mission_landing_item(stepper):
    flight = stepper.fly(20.0)
    lat, lon = flight.frame.to_geodetic(30.0, 10.0)
    flight.mission.items = [MissionItem(0, 6, NavCommand.LAND, (0.0, 0.0, 0.0, 0.0), lat, lon, 0.0)]
    flight.start_mission()
    stepper.run_until(lambda: not flight.armed)
    m = flight.airframe.motion
    assert (m.north, m.east) == pytest.approx((30.0, 10.0), abs=2.0)


ACTIONS = {
    "arm": lambda f: f.arm(),
    "disarm": lambda f: f.disarm(),
    "kill": lambda f: f.disarm(force=True),
    "takeoff": lambda f: f.takeoff(8.0),
    "land": lambda f: f.land(),
    "rtl": lambda f: f.return_home(),
    "hold": lambda f: f.hold(),
    "mission": lambda f: f.start_mission(),
    "goto": lambda f: f.goto(10.0, 5.0, 12.0),
    "posctl": lambda f: f.set_mode(FlightMode.POSCTL),
    "sticks": lambda f: f.sticks(Sticks(0.3, -0.2, 0.4, 0.1)),
}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(ACTIONS)), st.floats(0.1, 8.0)), max_size=12))
def test_no_sequence_of_commands_breaks_the_rules_of_flight(script):
    stepper = Stepper()
    flight = stepper.flight
    flight.mission.items = [waypoint(0, 15.0, 0.0, 10.0, flight.frame), waypoint(1, 0.0, 15.0, 12.0, flight.frame)]
    stepper.run(2.0)
    for action, seconds in script:
        ACTIONS[action](flight)
        for _ in range(round(seconds / 0.02)):
            stepper.step()
            m = flight.airframe.motion
            assert m.altitude >= 0.0
            assert m.altitude < 60.0
            assert math.isfinite(m.north + m.east + m.roll + m.pitch + m.yaw)
            assert abs(m.roll) < 1.2
            assert abs(m.pitch) < 1.2
            assert flight.in_air or m.altitude == 0.0
            if not flight.armed:
                assert m.thrust_n == 0.0
