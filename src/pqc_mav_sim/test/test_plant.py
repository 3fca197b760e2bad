# SPDX-License-Identifier: Apache-2.0
import math
import random

import pytest

from pqc_mav_common.geodesy import LocalFrame
from pqc_mav_sim.flight_config import FlightConfig
from pqc_mav_sim.plant import STEP_S, Plant, Wind

FRAME = LocalFrame(47.0, 8.0, 400.0)


def advance(plant, start, seconds):
    t = start
    for _ in range(round(seconds / 0.01)):
        t += 0.01
        plant.advance(t)
    return t


def hovering(**options):
    plant = Plant(FRAME, FlightConfig(), **options)
    t = advance(plant, 100.0, 2.0)
    assert plant.flight.arm().ok
    assert plant.flight.takeoff(10.0).ok
    return plant, advance(plant, t, 20.0)


def test_load_drives_battery_and_temperature():
    plant = Plant(FRAME, FlightConfig())
    t = advance(plant, 0.0, 5.0)
    idle_a, idle_v = plant.battery.current, plant.battery.voltage
    plant.flight.arm()
    plant.flight.takeoff(10.0)
    t = advance(plant, t, 30.0)
    assert 8.0 < plant.battery.current < 18.0
    assert plant.battery.current > 10.0 * idle_a
    assert plant.battery.voltage < idle_v - 0.2
    assert plant.thermal.motors_c > 22.0
    assert plant.battery.remaining_percent < 100
    plant.flight.land()
    t = advance(plant, t, 40.0)
    assert not plant.flight.armed
    warm = plant.thermal.motors_c
    assert plant.battery.current == pytest.approx(idle_a, rel=0.05)
    advance(plant, t, 120.0)
    assert plant.thermal.motors_c < warm


def test_flies_until_the_battery_brings_it_home():
    plant, t = hovering(soc=0.16)
    t = advance(plant, t, 300.0)
    assert not plant.flight.armed
    assert plant.flight.airframe.motion.altitude == 0.0
    assert plant.battery.soc > 0.0
    said = [event.text for event in plant.flight.events]
    assert "Low battery, return advised" in said
    assert "Critical battery, return now" in said


def test_same_seed_same_flight_and_another_seed_another():
    (a, _), (b, _), (c, _) = hovering(seed=3), hovering(seed=3), hovering(seed=4)
    assert a.flight.airframe.motion == b.flight.airframe.motion
    assert a.flight.airframe.motion != c.flight.airframe.motion


def test_result_does_not_depend_on_how_often_it_is_asked():
    fine, coarse = Plant(FRAME, FlightConfig()), Plant(FRAME, FlightConfig())
    for plant, step in ((fine, 0.003), (coarse, 0.1)):
        t = 50.0
        while t < 60.0:
            t += step
            plant.advance(t)
    assert fine.battery.consumed_ah == pytest.approx(coarse.battery.consumed_ah, rel=0.02)


def test_a_stall_is_dropped_and_counted():
    plant = Plant(FRAME, FlightConfig())
    plant.advance(10.0)
    before = plant.battery.consumed_ah
    plant.advance(1000.0)
    assert plant.time_jumps == 1
    assert plant.flight.t == pytest.approx(1000.0, abs=STEP_S)
    assert plant.battery.consumed_ah - before < 1e-3


def test_density_falls_with_height_and_heat():
    low, high = Plant(FRAME, FlightConfig()), Plant(LocalFrame(47.0, 8.0, 3000.0), FlightConfig())
    hot = Plant(FRAME, FlightConfig(), ambient_c=40.0)
    assert high.density < low.density
    assert hot.density < low.density
    assert 1.0 < low.density < 1.3


def test_gusts_have_the_asked_strength():
    wind = Wind(random.Random(5), mean=(2.0, -1.0), gust=0.6)
    samples = [wind.step(1.0) for _ in range(20_000)]
    for axis, mean in enumerate((2.0, -1.0)):
        values = [sample[axis] for sample in samples]
        average = sum(values) / len(values)
        spread = math.sqrt(sum((v - average) ** 2 for v in values) / len(values))
        assert average == pytest.approx(mean, abs=0.1)
        assert spread == pytest.approx(0.6, abs=0.05)
