# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_sim.airframe import (
    GRAVITY,
    SEA_LEVEL_DENSITY,
    Airframe,
    AirframeSpec,
    Setpoint,
    rotor_power,
    thrust_attitude,
)
from pqc_mav_sim.rotations import to_body

DT = 0.02
SPEC = AirframeSpec()
speeds = st.floats(-8.0, 8.0)
CALM = (0.0, 0.0)


def fly(airframe, setpoint, seconds, wind=CALM):
    for _ in range(round(seconds / DT)):
        airframe.step(DT, setpoint, wind, SEA_LEVEL_DENSITY)
        yield airframe.motion


@settings(max_examples=40, deadline=None)
@given(speeds, speeds, st.floats(-3.0, -0.5), st.floats(-3.0, 3.0))
def test_position_is_the_integral_of_velocity_and_velocity_of_acceleration(vn, ve, vd, yaw):
    airframe = Airframe()
    position, velocity = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    for m in fly(airframe, Setpoint(vn, ve, vd, yaw), 4.0):
        before = list(velocity)
        velocity = [m.vn, m.ve, m.vd]
        position = [p + 0.5 * (a + b) * DT for p, a, b in zip(position, before, velocity, strict=True)]
        for after, previous, accel in zip(velocity, before, (m.an, m.ae, m.ad), strict=True):
            assert after - previous == pytest.approx(accel * DT, abs=1e-9)
    m = airframe.motion
    assert [m.north, m.east, m.down] == pytest.approx(position, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(speeds, speeds, st.floats(-3.0, 2.0), st.floats(-3.0, 3.0))
def test_setpoint_is_reached_without_overshoot_beyond_the_limits(vn, ve, vd, yaw):
    airframe = Airframe()
    list(fly(airframe, Setpoint(vd=-3.0), 10.0))
    asked = math.sqrt(vn * vn + ve * ve)
    for m in fly(airframe, Setpoint(vn, ve, vd, yaw), 8.0):
        assert math.hypot(m.an, m.ae) <= SPEC.accel_horizontal + 1e-9
        assert abs(m.ad) <= SPEC.accel_vertical + 1e-9
        assert m.groundspeed <= asked * 1.02 + 0.05
        assert m.thrust_n <= SPEC.max_thrust_n
    m = airframe.motion
    assert (m.vn, m.ve, m.vd) == pytest.approx((vn, ve, vd), abs=0.05)
    assert math.cos(m.yaw - yaw) == pytest.approx(1.0, abs=1e-6)


def test_attitude_points_the_thrust_where_the_force_is_needed():
    airframe = Airframe()
    for m in fly(airframe, Setpoint(6.0, -2.0, -1.0, 1.0), 6.0):
        # thrust has no component across the body's vertical axis; drag is what is left of the specific force
        drag_k = -(SPEC.drag_linear + SPEC.drag_quadratic * m.airspeed) / SPEC.mass_kg
    specific = (m.an - drag_k * m.vn, m.ae - drag_k * m.ve, m.ad - GRAVITY - drag_k * m.vd)
    forward, right, down = to_body(specific, m.roll, m.pitch, m.yaw)
    assert (forward, right) == pytest.approx((0.0, 0.0), abs=0.02)
    assert down == pytest.approx(-m.thrust_n / SPEC.mass_kg, rel=1e-3)


def test_flying_north_pitches_the_nose_down_and_flying_east_rolls_right():
    north, east = Airframe(), Airframe()
    list(fly(north, Setpoint(8.0, 0.0, -1.0), 6.0))
    list(fly(east, Setpoint(0.0, 8.0, -1.0), 6.0))
    assert north.motion.pitch < -0.05
    assert north.motion.roll == pytest.approx(0.0, abs=1e-9)
    assert east.motion.roll > 0.05
    assert east.motion.pitch == pytest.approx(0.0, abs=1e-9)


def test_body_rates_are_the_derivative_of_the_attitude():
    airframe = Airframe()
    roll = pitch = yaw = 0.0
    for m in fly(airframe, Setpoint(5.0, 5.0, -2.0, 2.0), 3.0):
        if m.on_ground:
            continue
        p = (m.roll - roll) / DT - (m.yaw - yaw) / DT * math.sin(m.pitch)
        assert m.p == pytest.approx(p, abs=1e-9)
        roll, pitch, yaw = m.roll, m.pitch, m.yaw
    assert pitch != 0.0


@given(st.floats(-30.0, 30.0), st.floats(-30.0, 30.0), st.floats(-30.0, -1.0), st.floats(-3.1, 3.1))
def test_thrust_attitude_inverts_the_rotation(fn, fe, fd, yaw):
    roll, pitch = thrust_attitude(fn, fe, fd, yaw)
    forward, right, down = to_body((fn, fe, fd), roll, pitch, yaw)
    assert abs(forward) < 1e-6 * max(1.0, abs(down)) + 1e-6
    assert abs(right) < 1e-6 * max(1.0, abs(down)) + 1e-6
    assert down < 0.0


def test_hover_power_is_that_of_such_a_vehicle():
    # 1.6 kg on four 10-inch propellers: 150-200 W in practice
    assert 130.0 < rotor_power(SPEC, SPEC.hover_thrust_n, 0.0, 0.0, SEA_LEVEL_DENSITY) < 220.0


def test_power_follows_physics():
    hover = rotor_power(SPEC, SPEC.hover_thrust_n, 0.0, 0.0, SEA_LEVEL_DENSITY)
    assert rotor_power(SPEC, 0.0, 0.0, 0.0, SEA_LEVEL_DENSITY) == 0.0
    assert rotor_power(SPEC, SPEC.hover_thrust_n, 3.0, 0.0, SEA_LEVEL_DENSITY) > hover  # climbing
    assert rotor_power(SPEC, SPEC.hover_thrust_n, 0.0, 8.0, SEA_LEVEL_DENSITY) < hover  # translational lift
    assert rotor_power(SPEC, SPEC.hover_thrust_n, 0.0, 0.0, 0.9) > hover  # thin air
    descending = rotor_power(SPEC, SPEC.hover_thrust_n, -20.0, 0.0, SEA_LEVEL_DENSITY)
    assert descending > 0.25 * hover


@given(st.floats(1.0, 31.0), st.floats(-15.0, 15.0), st.floats(0.0, 25.0), st.floats(0.7, 1.3))
def test_power_is_finite_and_grows_with_thrust(thrust, climb, forward, density):
    low = rotor_power(SPEC, thrust, climb, forward, density)
    high = rotor_power(SPEC, thrust * 1.1, climb, forward, density)
    assert 0.0 < low < high < 10_000.0


def test_rests_on_the_ground_and_falls_without_motors():
    airframe = Airframe()
    list(fly(airframe, Setpoint(), 1.0))
    assert airframe.motion.on_ground
    assert airframe.power_w == SPEC.idle_power_w
    list(fly(airframe, Setpoint(vd=-3.0), 10.0))
    height = airframe.motion.altitude
    assert height > 20.0
    falling = list(fly(airframe, None, 1.0))
    assert airframe.power_w == 0.0
    assert height - falling[-1].altitude == pytest.approx(0.5 * GRAVITY - 3.0, abs=0.5)
    list(fly(airframe, None, 30.0))
    assert airframe.motion.on_ground
    assert airframe.motion.altitude == 0.0


def test_wind_tilts_a_hovering_vehicle_into_it():
    airframe = Airframe()
    list(fly(airframe, Setpoint(vd=-2.0), 4.0))
    list(fly(airframe, Setpoint(), 6.0, wind=(6.0, 0.0)))
    m = airframe.motion
    assert m.airspeed == pytest.approx(6.0, abs=0.1)
    assert m.groundspeed < 0.1
    # wind from the south pushes north, so the nose goes up
    assert m.pitch > 0.03
