# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_sim.battery import Battery, BatteryLevel, BatterySpec, BatteryThresholds, open_circuit_voltage

SPEC = BatterySpec()
loads = st.floats(0.0, 600.0)
temperatures = st.floats(-20.0, 60.0)


def drain(battery, load, seconds, temperature=25.0, dt=0.1):
    for _ in range(round(seconds / dt)):
        battery.step(dt, load, temperature)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_open_circuit_voltage_rises_with_charge(a, b):
    low, high = sorted((a, b))
    assert 3.2 < open_circuit_voltage(low) <= open_circuit_voltage(high) <= 4.2


@settings(deadline=None)
@given(loads, temperatures, st.floats(0.05, 1.0))
def test_terminal_power_is_the_load_unless_it_is_too_much(load, temperature, soc):
    battery = Battery(soc=soc)
    battery.step(0.1, load, temperature)
    if battery.brownout:
        assert battery.voltage * battery.current < load
    else:
        assert battery.voltage * battery.current == pytest.approx(load, rel=1e-9, abs=1e-9)
    assert 0.0 <= battery.voltage <= 4.0 * 4.2
    assert battery.current >= 0.0


@settings(max_examples=30, deadline=None)
@given(st.lists(loads, min_size=1, max_size=60), temperatures)
def test_charge_only_falls_and_energy_is_conserved(steps, temperature):
    battery = Battery(soc=0.9)
    delivered = losses = 0.0
    previous = battery.soc
    chemical = 0.0
    for load in steps:
        source = SPEC.cells * open_circuit_voltage(battery.soc)
        battery.step(1.0, load, temperature)
        assert battery.soc <= previous
        previous = battery.soc
        chemical += source * battery.current
        delivered += battery.voltage * battery.current
        losses += battery.heat_w
    # what leaves the cells is delivered, lost, or stored in the relaxation pair (at most a few joules)
    assert chemical >= delivered
    assert chemical == pytest.approx(delivered + losses, rel=0.02, abs=60.0)


def test_a_hover_lasts_as_long_as_such_a_pack_allows():
    battery = Battery()
    minutes = 0
    while battery.soc > 0.0:
        drain(battery, 180.0, 60.0, dt=1.0)
        minutes += 1
    assert 20 <= minutes <= 30
    assert battery.consumed_ah == pytest.approx(SPEC.capacity_ah, rel=1e-6)


def test_voltage_sags_under_load_and_recovers():
    battery = Battery(soc=0.8)
    drain(battery, 0.0, 1.0)
    rest = battery.voltage
    drain(battery, 300.0, 30.0)
    loaded = battery.voltage
    drain(battery, 0.0, 0.1)
    just_after = battery.voltage
    drain(battery, 0.0, 120.0)
    assert loaded < just_after < battery.voltage <= rest


def test_cold_costs_voltage():
    warm, cold = Battery(), Battery()
    warm.step(0.1, 300.0, 25.0)
    cold.step(0.1, 300.0, -10.0)
    assert cold.voltage < warm.voltage
    assert cold.heat_w > warm.heat_w


def test_empty_pack_gives_nothing():
    battery = Battery(soc=0.0)
    battery.step(0.1, 100.0, 25.0)
    assert (battery.voltage, battery.current, battery.brownout) == (0.0, 0.0, True)


def test_overload_is_a_brownout_at_the_greatest_power_the_pack_has():
    battery = Battery()
    battery.step(0.1, 1e6, 25.0)
    assert battery.brownout
    assert battery.voltage == pytest.approx(SPEC.cells * 4.2 / 2.0)


def test_time_remaining_follows_the_current():
    battery = Battery()
    assert battery.time_remaining_s is None
    drain(battery, 180.0, 60.0)
    assert battery.time_remaining_s == pytest.approx(
        battery.soc * SPEC.capacity_ah * 3600.0 / battery.current, rel=0.05
    )


@pytest.mark.parametrize(
    ("soc", "level"),
    [
        (1.0, BatteryLevel.OK),
        (0.149, BatteryLevel.LOW),
        (0.069, BatteryLevel.CRITICAL),
        (0.049, BatteryLevel.EMERGENCY),
        (0.0, BatteryLevel.DEPLETED),
    ],
)
def test_levels(soc, level):
    assert Battery(soc=soc).level(BatteryThresholds()) is level


@pytest.mark.parametrize("soc", [-0.1, 1.1])
def test_bad_charge_is_refused(soc):
    with pytest.raises(ValueError, match=r"give 0\.\.1"):
        Battery(soc=soc)
