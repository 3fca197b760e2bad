# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sim.airframe import Motion
from pqc_mav_sim.flight_config import FlightConfig
from pqc_mav_sim.guidance import Sticks, Target, approach_speed, climb_at, descend_at, fly_sticks, fly_to

CONFIG = FlightConfig()
metres = st.floats(-500.0, 500.0)


@given(st.floats(0.0, 1000.0), st.floats(0.0, 1.0), st.floats(0.5, 20.0))
def test_approach_speed_grows_with_distance_up_to_the_limit(distance, more, limit):
    here, farther = approach_speed(distance, limit), approach_speed(distance + more, limit)
    assert 0.0 <= here <= farther + 1e-12
    assert farther <= limit


def test_approach_speed_is_continuous_at_its_knee():
    knee = 7.2
    assert approach_speed(knee - 1e-9, 99.0) == pytest.approx(approach_speed(knee + 1e-9, 99.0), abs=1e-6)


@given(metres, metres, st.floats(0.0, 100.0), metres, metres, st.floats(0.0, 100.0))
def test_fly_to_points_at_the_target_within_the_limits(n, e, alt, tn, te, talt):
    setpoint = fly_to(Motion(north=n, east=e, down=-alt), Target(tn, te, talt, 0.5), 7.0, CONFIG)
    assert math.hypot(setpoint.vn, setpoint.ve) <= 7.0 + 1e-9
    assert -CONFIG.climb_speed <= setpoint.vd <= CONFIG.sink_speed
    # towards the target, never away from it
    assert setpoint.vn * (tn - n) + setpoint.ve * (te - e) >= -1e-9
    assert setpoint.vd * (alt - talt) >= -1e-9
    assert abs(setpoint.vn * (te - e) - setpoint.ve * (tn - n)) < 1e-6 * (1.0 + abs(tn - n) + abs(te - e))


def test_nose_follows_the_course_until_close():
    far = fly_to(Motion(), Target(0.0, 100.0, 0.0, 0.3), 5.0, CONFIG)
    near = fly_to(Motion(), Target(0.0, 1.0, 0.0, 0.3), 5.0, CONFIG)
    assert far.yaw == pytest.approx(math.pi / 2.0)
    assert near.yaw == 0.3


def test_take_off_and_landing_speeds():
    assert climb_at(Motion(), Target(0.0, 0.0, 50.0, 0.0), CONFIG).vd == -CONFIG.takeoff_speed
    high = Motion(down=-20.0)
    low = Motion(down=-2.0)
    assert descend_at(high, Target(0.0, 0.0, 0.0, 0.0), CONFIG).vd == CONFIG.sink_speed
    assert descend_at(low, Target(0.0, 0.0, 0.0, 0.0), CONFIG).vd == CONFIG.land_speed


def test_sticks_fly_in_the_direction_of_the_nose():
    east = Motion(yaw=math.pi / 2.0)
    setpoint = fly_sticks(east, Sticks(forward=1.0), CONFIG)
    assert (setpoint.vn, setpoint.ve) == pytest.approx((0.0, CONFIG.stick_speed), abs=1e-9)
    setpoint = fly_sticks(east, Sticks(right=0.5, up=1.0, turn=-1.0), CONFIG)
    assert (setpoint.vn, setpoint.ve) == pytest.approx((-0.5 * CONFIG.stick_speed, 0.0), abs=1e-9)
    assert setpoint.vd == -CONFIG.climb_speed
    assert setpoint.yaw < east.yaw
