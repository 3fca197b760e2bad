# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sim.thermal import AVIONICS, Thermal, relax

NO_LOAD = {"battery_heat_w": 0.0, "rotor_power_w": 0.0, "avionics_w": 0.0, "flow": 0.0, "altitude": 0.0}
HOVER = {"battery_heat_w": 4.0, "rotor_power_w": 170.0, "avionics_w": 11.0, "flow": 5.0, "altitude": 10.0}


def settle(thermal, seconds, **load):
    for _ in range(int(seconds)):
        thermal.step(1.0, **load)


def test_without_load_nothing_changes():
    thermal = Thermal(21.5)
    settle(thermal, 500, **NO_LOAD)
    assert (thermal.battery_c, thermal.motors_c, thermal.avionics_c) == (21.5, 21.5, 21.5)


def test_equilibrium_is_heat_over_conductance():
    thermal = Thermal(20.0)
    settle(thermal, 20_000, **{**NO_LOAD, "avionics_w": 10.0})
    assert thermal.avionics_c == pytest.approx(20.0 + 10.0 / AVIONICS.still)


def test_hover_warms_motors_and_battery_within_reason_and_rest_cools_them():
    thermal = Thermal(20.0)
    settle(thermal, 600, **HOVER)
    assert 25.0 < thermal.motors_c < 60.0
    assert 22.0 < thermal.battery_c < 45.0
    hot = thermal.motors_c
    settle(thermal, 600, **NO_LOAD)
    assert thermal.motors_c < hot


def test_air_flow_cools():
    still, windy = Thermal(20.0), Thermal(20.0)
    settle(still, 300, **{**HOVER, "flow": 0.0})
    settle(windy, 300, **{**HOVER, "flow": 12.0})
    assert windy.motors_c < still.motors_c
    assert windy.battery_c < still.battery_c
    assert windy.avionics_c < still.avionics_c


def test_air_is_colder_higher_up():
    thermal = Thermal(20.0)
    thermal.step(1.0, **{**NO_LOAD, "altitude": 1000.0})
    assert thermal.ambient_c == pytest.approx(13.5)


@given(
    st.floats(-20, 100),
    st.floats(0, 500),
    st.floats(0.1, 10),
    st.floats(10, 1000),
    st.floats(-20, 50),
    st.floats(0, 1e5),
)
def test_step_is_stable_and_never_passes_its_goal(start, heat, conductance, capacity, ambient, dt):
    goal = ambient + heat / conductance
    end = relax(start, heat, conductance, capacity, ambient, dt)
    assert min(start, goal) - 1e-6 <= end <= max(start, goal) + 1e-6


@given(st.floats(0.01, 100.0))
def test_two_half_steps_are_one_step(dt):
    once = relax(30.0, 20.0, 0.8, 200.0, 15.0, dt)
    twice = relax(relax(30.0, 20.0, 0.8, 200.0, 15.0, dt / 2), 20.0, 0.8, 200.0, 15.0, dt / 2)
    assert once == pytest.approx(twice, rel=1e-9)
