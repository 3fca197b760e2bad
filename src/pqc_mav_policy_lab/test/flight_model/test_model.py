# SPDX-License-Identifier: Apache-2.0
"""The simulated drone: published temperatures, slopes, and that it empties, heats and sags as one."""

from __future__ import annotations

import pytest

from pqc_mav_policy.telemetry.inputs import Phase
from pqc_mav_policy_lab.flight_model.conditions import CPU_BASELINE, CPU_TST, CPU_XGBOOST, Conditions
from pqc_mav_policy_lab.flight_model.model import THERMAL_TAU_S, FlightModel, Slope, settled_temperature_c


def test_steady_temperatures_are_the_published_ones() -> None:
    """[rpi5-report] section 23: 60.8, 73.3 and 82.8 C at 14.6, 40.5 and 88.8 % load."""
    for cpu, temperature in ((CPU_BASELINE, 60.8), (CPU_XGBOOST, 73.3), (CPU_TST, 82.8)):
        assert settled_temperature_c(cpu, 25.0) == pytest.approx(temperature)
        assert settled_temperature_c(cpu, 35.0) == pytest.approx(temperature + 10.0)
    assert 60.8 < settled_temperature_c(30.0, 25.0) < 73.3 < settled_temperature_c(60.0, 25.0) < 82.8


def test_temperature_relaxes_with_its_time_constant() -> None:
    model = FlightModel(ambient_c=25.0, cpu_percent=CPU_BASELINE)
    conditions = Conditions(Phase.DISARMED, ambient_c=25.0, cpu_percent=CPU_TST)
    for _ in range(round(THERMAL_TAU_S)):
        readings = model.step(conditions, 0.0)
    assert (model.temperature_c - 60.8) / (82.8 - 60.8) == pytest.approx(0.632, abs=0.001)
    rate = readings.thermal.rate_c_per_min
    assert rate is not None and 5.0 < rate < 10.0
    assert not model.throttled
    for _ in range(300):
        model.step(conditions, 0.0)
    assert model.throttled and model.temperature_c == pytest.approx(82.8, abs=0.5)


def test_slope_is_the_regression_per_minute() -> None:
    slope = Slope(30)
    found = [slope.add(20.0 + 0.5 * second) for second in range(100)]
    assert found[:4] == [None] * 4 and found[4] == pytest.approx(30.0) and found[-1] == pytest.approx(30.0)
    for _ in range(30):
        last = slope.add(7.0)
    assert last == pytest.approx(0.0)


def test_flying_empties_the_battery_and_taking_off_makes_it_sag() -> None:
    model = FlightModel()
    ground = model.step(Conditions(Phase.DISARMED), 0.0)
    climb = model.step(Conditions(Phase.TAKEOFF), 0.0)
    assert ground.battery.voltage_v is not None and climb.battery.voltage_v is not None
    assert climb.battery.voltage_v < ground.battery.voltage_v - 0.2
    assert climb.vehicle.armed and not ground.vehicle.armed
    for _ in range(600):
        cruise = model.step(Conditions(Phase.CRUISE), 0.0)
    assert cruise.battery.state_of_charge is not None and 0.5 < cruise.battery.state_of_charge < 0.8
    rate = cruise.battery.rate_mv_per_min
    assert rate is not None and -200.0 < rate < 0.0


def test_a_handshake_costs_load_and_power() -> None:
    busy = FlightModel().step(Conditions(Phase.HOVER), 1.0)
    idle = FlightModel().step(Conditions(Phase.HOVER), 0.0)
    assert busy.system.cpu_percent == pytest.approx((idle.system.cpu_percent or 0.0) + 25.0)
    assert busy.power_w > idle.power_w


def test_a_take_off_is_no_falling_voltage_unless_the_terminals_are_asked() -> None:
    """The terminals' voltage falls by more than the published 500 mV/min at every take-off."""
    worst = {}
    for raw in (False, True):
        model = FlightModel(raw_voltage=raw)
        phases = [Phase.DISARMED] * 60 + [Phase.TAKEOFF] * 15 + [Phase.CRUISE] * 100
        found = [model.step(Conditions(phase), 0.0).battery.rate_mv_per_min for phase in phases]
        worst[raw] = min(rate for rate in found if rate is not None)
    assert worst[True] < -500.0 < -300.0 < worst[False]
