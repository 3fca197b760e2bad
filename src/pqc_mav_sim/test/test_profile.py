# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from pqc_mav_sim.profile import ProfileRunner, steps_of


def run_profile(stepper, runner, seconds):
    names = []
    for _ in range(round(seconds / 0.02)):
        runner.run(stepper.t, stepper.flight)
        stepper.step()
        if runner.step_name != (names[-1] if names else None):
            names.append(runner.step_name)
    return names


def test_auto_flies_the_whole_circle_again_and_again(stepper):
    runner = ProfileRunner(steps_of("auto", altitude=8.0, cruise_s=10.0))
    highest = farthest = 0.0
    names = []
    for _ in range(round(80.0 / 0.02)):
        names += run_profile(stepper, runner, 0.02)
        m = stepper.flight.airframe.motion
        highest, farthest = max(highest, m.altitude), max(farthest, math.hypot(m.north, m.east))
    order = [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]
    assert order[:6] == ["arm", "take-off", "cruise", "land", "pause", "arm"]
    assert highest == pytest.approx(8.0, abs=0.3)
    assert farthest > 15.0


def test_a_whole_flight_fits_into_half_a_minute(stepper):
    runner = ProfileRunner(steps_of("auto", altitude=8.0, cruise_s=10.0))
    names = run_profile(stepper, runner, 32.0)
    assert "pause" in names


def test_hover_stays(stepper):
    runner = ProfileRunner(steps_of("hover", altitude=12.0, cruise_s=0.0))
    run_profile(stepper, runner, 120.0)
    assert stepper.flight.airframe.motion.altitude == pytest.approx(12.0, abs=0.1)


def test_client_does_nothing(stepper):
    runner = ProfileRunner(steps_of("client", altitude=8.0, cruise_s=10.0))
    run_profile(stepper, runner, 30.0)
    assert not runner.running
    assert not stepper.flight.armed


def test_stop_leaves_the_vehicle_alone(stepper):
    runner = ProfileRunner(steps_of("auto", altitude=8.0, cruise_s=10.0))
    run_profile(stepper, runner, 15.0)
    runner.stop()
    run_profile(stepper, runner, 60.0)
    assert runner.step_name is None
    assert stepper.flight.in_air


def test_unknown_profile():
    with pytest.raises(ValueError, match="auto, hover, client"):
        steps_of("acro", altitude=8.0, cruise_s=1.0)
