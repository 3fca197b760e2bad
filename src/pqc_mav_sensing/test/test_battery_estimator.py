# SPDX-License-Identifier: Apache-2.0
import math
import random

import pytest

from pqc_mav_sensing import chemistry
from pqc_mav_sensing.battery_estimator import BatteryEstimator, RawBattery

LIPO = chemistry.find("lipo")
NAN = math.nan


def estimator(**changes: float) -> BatteryEstimator:
    return BatteryEstimator(LIPO, 5.0, **changes)


def feed(
    target: BatteryEstimator, seconds: float, *, start_s: float = 0.0, volts: float = 16.0, drift: float = 0.0
) -> float:
    """Readings at 5 Hz; returns the time of the last."""
    count = int(seconds * 5)
    for index in range(count):
        target.add(RawBattery(start_s + index / 5, volts + drift * index / 5, 12.0, 0.8, 30.0, 4))
    return start_s + (count - 1) / 5


def test_before_anything_arrived() -> None:
    state = estimator().state(0.0)
    assert not state.valid and "no battery reading" in state.reason and math.isnan(state.voltage_v)


def test_a_steady_drain() -> None:
    target = estimator()
    now_s = feed(target, 60.0, volts=16.0, drift=-0.6 / 60)
    state = target.state(now_s)
    assert state.valid and state.cells == 4 and state.reason == ""
    assert state.voltage_rate_mv_per_min == pytest.approx(-600.0, rel=1e-6)
    assert state.used_mah == pytest.approx(12.0 * now_s / 3.6, rel=0.02)
    assert state.reported_remaining == pytest.approx(0.8)
    assert state.endurance_s == pytest.approx(state.state_of_charge * state.effective_capacity_mah * 3.6 / 12.0)


def test_a_number_of_cells_that_comes_late_replaces_a_guess() -> None:
    """21.6 V are five full cells, or six empty ones: an autopilot's first message has no number."""
    target = estimator()
    for index in range(5):
        target.add(RawBattery(index / 5, 21.6))
    assert target.state(0.8).cells == 5
    target.add(RawBattery(1.0, 21.6, cells=6))
    target.add(RawBattery(1.2, 21.6))
    state = target.state(1.2)
    assert state.cells == 6 and state.state_of_charge < 0.3


def test_motors_that_start_are_no_discharge() -> None:
    """From 1 A to 20 A the pack drops by its resistance times 19 A, which would be a slope of volts per minute."""
    target = estimator(resistance_ohm=0.03)
    for index in range(300):
        current_a = 1.0 if index < 150 else 20.0
        target.add(RawBattery(index / 5, 16.0 - 0.03 * current_a, current_a, 0.8, 30.0, 4))
    assert target.state(299 / 5).voltage_rate_mv_per_min == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("volts", [0.0, 65.535 * 2.2, -3.0, math.inf, 4 * 2.4, 4 * 4.5])
def test_voltages_that_cannot_be_are_refused_and_not_averaged_in(volts: float) -> None:
    target = estimator()
    now_s = feed(target, 60.0, volts=16.0)
    before = target.state(now_s)
    assert not target.add(RawBattery(now_s + 0.1, volts, 12.0, 0.8, 30.0, 4))
    after = target.state(now_s)
    assert after == before and target.refused == 3  # the first two waited to be confirmed


def test_65535_millivolt_is_unknown() -> None:
    target = BatteryEstimator(LIPO, 5.0, cells=0)
    for index in range(10):
        target.add(RawBattery(index / 5, 65.535))
    # A pack of 65.535 V could exist, so the reader drops the marker; four cells of it cannot.
    assert not BatteryEstimator(LIPO, 5.0, cells=4).add(RawBattery(0.0, 65.535))


@pytest.mark.parametrize("remaining", [-0.01, 2.55, -1.0, NAN])
def test_unknown_percentages_stay_unknown(remaining: float) -> None:
    target = estimator()
    for index in range(5):
        target.add(RawBattery(index / 5, 16.0, 12.0, remaining, 30.0, 4))
    state = target.state(0.8)
    assert state.valid and math.isnan(state.reported_remaining)


@pytest.mark.parametrize(("current", "temperature"), [(NAN, 30.0), (655.35, 30.0), (12.0, NAN), (12.0, 327.67)])
def test_one_unknown_field_does_not_spoil_the_rest(current: float, temperature: float) -> None:
    target = estimator()
    for index in range(5):
        target.add(RawBattery(index / 5, 16.0, current, 0.8, temperature, 4))
    state = target.state(0.8)
    assert state.valid and state.voltage_v == 16.0
    assert math.isnan(state.current_a) == (current != 12.0)
    assert math.isnan(state.temperature_c) == (temperature != 30.0)
    assert not math.isnan(state.state_of_charge)


def test_readings_without_a_voltage_are_no_silence_and_do_not_disturb_those_that_have_one() -> None:
    """A BATTERY_STATUS that knows the percentage alone; SYS_STATUS may tell the voltage beside it."""
    target = estimator()
    target.add(RawBattery(0.0, NAN, remaining=0.8))
    assert target.state(0.0).reason == "what arrived last has no voltage"
    for index in range(1, 20, 2):
        target.add(RawBattery(index / 5, 16.0, 12.0, 0.8, 30.0, 4))
        target.add(RawBattery((index + 1) / 5, NAN, remaining=0.8))
    assert target.state(4.0).valid
    for index in range(21, 40):
        target.add(RawBattery(index / 5, NAN, remaining=0.8))
    state = target.state(7.8)
    assert state.reason == "the newest good reading is 4.0 s old; what arrived last has no voltage"
    assert (target.accepted, target.refused) == (8, 2), "none of them is wrong; the first two wait to be confirmed"


def test_stale_after_two_seconds() -> None:
    target = estimator()
    now_s = feed(target, 5.0)
    assert target.state(now_s + 1.99).valid
    state = target.state(now_s + 2.01)
    assert not state.valid and "2.0 s old" in state.reason and math.isnan(state.voltage_v)
    assert state.age_s == pytest.approx(2.01)


def test_back_after_a_silence_it_is_confirmed_first_and_the_slope_begins_anew() -> None:
    target = estimator()
    now_s = feed(target, 60.0, volts=16.0)
    target.add(RawBattery(now_s + 5.0, 14.0, 12.0, 0.8, 30.0, 4))
    assert not target.state(now_s + 5.0).valid
    now_s = feed(target, 3.0, start_s=now_s + 5.2, volts=14.0)
    state = target.state(now_s)
    assert state.valid and state.voltage_v == 14.0
    assert math.isnan(state.voltage_rate_mv_per_min), "2 V less is no slope of -20,000 mV/min"


def test_another_pack_is_estimated_anew() -> None:
    target = estimator()
    now_s = feed(target, 60.0, volts=4 * 3.7)
    low = target.state(now_s).state_of_charge
    now_s = feed(target, 5.0, start_s=now_s + 60.0, volts=4 * 4.15)
    assert target.state(now_s).state_of_charge > low + 0.5


@pytest.mark.parametrize(
    ("volts", "current_a", "anew"),
    [(16.7, 1.0, True), (16.7, NAN, True), (4 * 3.70, 1.0, False), (16.7, 12.0, False)],
    ids=["full", "full, current unknown", "not much fuller", "under load"],
)
def test_a_full_pack_that_is_plugged_in_quickly_is_estimated_anew(volts: float, current_a: float, anew: bool) -> None:
    target = estimator()
    now_s = feed(target, 1600.0, volts=16.4, drift=-2.2 / 1600)
    assert target.state(now_s).state_of_charge == 0.0
    for index in range(10):
        target.add(RawBattery(now_s + 4.0 + index / 5, volts, current_a, 0.8, 30.0, 4))
    state = target.state(now_s + 5.8)
    assert state.valid and state.voltage_v == volts
    assert state.state_of_charge == pytest.approx(0.95 if anew else 0.0, abs=0.05)


def test_without_a_current_sensor_the_voltage_is_all_there_is() -> None:
    target = estimator()
    for index in range(100):
        target.add(RawBattery(index / 5, 4 * (4.08 - 0.0021 * index), NAN, NAN, NAN, 4))
    state = target.state(99 / 5)
    assert state.state_of_charge == pytest.approx(LIPO.charge_at(4.08 - 0.0021 * 99))
    assert math.isnan(state.endurance_s)


def test_the_autopilots_percentage_wins_over_an_assumed_capacity() -> None:
    target = BatteryEstimator(LIPO, 0.0)
    now_s = feed(target, 20.0)
    state = target.state(now_s)
    assert state.reported_remaining == pytest.approx(0.8)
    assert state.state_of_charge == state.reported_remaining
    assert all(math.isnan(each) for each in (state.effective_capacity_mah, state.endurance_s))
    assert state.used_mah == pytest.approx(12.0 * now_s / 3.6, rel=0.05)
    assert state.cells == 4
    target.add(RawBattery(now_s + 0.2, 16.0, 12.0, NAN, 30.0, 4))
    assert 0.0 < target.state(now_s + 0.2).state_of_charge <= 1.0, "where it gives none, 5 Ah are assumed"


@pytest.mark.parametrize(("armed", "climbing"), [(True, False), (False, True)])
def test_without_a_current_sensor_the_slope_begins_anew_after_the_load_changed(armed: bool, climbing: bool) -> None:
    target = estimator()

    def rate_at(until_s: float) -> float:
        for index in range(round(until_s * 5) - 200, round(until_s * 5) + 1):
            if index >= 0:
                target.add(RawBattery(index / 5, 16.0 if index < 200 else 15.5, NAN, NAN, NAN, 4))
        return target.state(until_s).voltage_rate_mv_per_min

    target.follow(0.0, False, False)
    assert rate_at(40.0) == pytest.approx(0.0, abs=200.0)
    target.follow(40.0, armed, climbing)
    assert math.isnan(target.state(40.0).voltage_rate_mv_per_min)
    assert math.isnan(rate_at(69.0))
    assert rate_at(71.0) == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_ten_thousand_readings_with_faults_believe_no_wrong_voltage(seed: int) -> None:
    rng = random.Random(seed)
    target = estimator()
    truth, at_s, accepted, valid = 16.8, 0.0, 0, 0
    wrong = (0.0, 65.535, -1.0, NAN, math.inf, 3.0, 30.0, 1e9, 21.0)
    for _ in range(10_000):
        at_s += rng.choice((0.05, 0.2, 0.2, 0.2, 1.0)) if rng.random() > 0.002 else 4.0
        truth = max(13.2, truth - 0.0003 + rng.gauss(0, 0.01)) if truth < 16.9 else 16.8
        fault = rng.random() < 0.08
        seen = rng.choice((*wrong, truth - 3.5, truth + 3.5)) if fault else truth + rng.gauss(0, 0.02)
        if target.add(RawBattery(at_s, seen, rng.choice((12.0, NAN, -655.36, 655.35)), -0.01, 327.67, 4)):
            accepted += 1
            assert not fault and abs(seen - truth) < 0.2
        state = target.state(at_s)
        valid += state.valid
        if state.valid:
            assert abs(state.voltage_v - truth) < 0.5
            assert math.isnan(state.reported_remaining) and math.isnan(state.temperature_c)
            rate = state.voltage_rate_mv_per_min
            assert math.isnan(rate) or abs(rate) < 2500
    assert accepted > 8000 and valid > 9000
