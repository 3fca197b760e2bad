# SPDX-License-Identifier: Apache-2.0
import math
import random
from collections.abc import Callable

import pytest

from pqc_mav_sensing.load_free import LoadFreeSlope

WINDOW_S, LEAST_S = 60.0, 10.0
ASSUMED_OHM = 0.016


def slopes(
    volts: Callable[[float, float], float], amps: Callable[[float], float], seconds: int = 200, known_ohm: float = 0.0
) -> list[tuple[float, float]]:
    """(mV/min, ohm) once a second, of readings at 4 Hz; `volts` of time and current."""
    fitted = LoadFreeSlope(WINDOW_S, LEAST_S, known_ohm)
    fitted.assumed_ohm = known_ohm or ASSUMED_OHM
    found = []
    for quarter in range(4 * seconds):
        at_s = quarter / 4
        fitted.add(at_s, volts(at_s, amps(at_s)), amps(at_s))
        if quarter % 4 == 3:
            rate, ohm = fitted.fit(at_s)
            found.append((1000.0 * rate, ohm))
    return found


def worst(found: list[tuple[float, float]]) -> float:
    return max(abs(rate) for rate, _ in found if not math.isnan(rate))


def motors(at_s: float) -> float:
    """Start within two seconds at 60 s, stop at 150 s."""
    return 0.5 if at_s < 60 or at_s >= 150 else min(21.0, 0.5 + 10.25 * (at_s - 60))


@pytest.mark.parametrize("ohm", [0.0, 0.008, 0.016, 0.04])
def test_neither_start_nor_stop_of_the_motors_is_a_slope(ohm: float) -> None:
    """With 16 mOhm assumed, a constant 16.80 V rose by 2,450 mV/min at take-off and fell after disarming."""
    found = slopes(lambda _at_s, amps: 16.8 - ohm * amps, motors)
    assert worst(found) < 15.0
    assert found[100][1] == pytest.approx(ohm, abs=0.0005)


@pytest.mark.parametrize("rate", [-600.0, -100.0, 300.0])
def test_a_real_fall_shows_through_a_start_of_the_motors(rate: float) -> None:
    found = slopes(lambda at_s, amps: 16.8 + rate / 60e3 * at_s - 0.02 * amps, motors)
    assert found[70][0] == pytest.approx(rate, abs=15.0)
    assert found[140][0] == pytest.approx(rate, abs=5.0)


def test_a_fall_at_constant_power_is_not_taken_for_a_resistance() -> None:
    """The current grows as the voltage falls: dV/dI alone would be 0.8 ohm and hide everything."""

    def volts(at_s: float) -> float:
        return 16.8 - 1.0 / 60 * at_s

    found = slopes(lambda at_s, _amps: volts(at_s), lambda at_s: 330.0 / volts(at_s), 100)
    assert found[90][0] == pytest.approx(-1000.0, rel=0.05)


def test_a_measured_resistance_is_not_estimated() -> None:
    found = slopes(lambda _at_s, amps: 16.8 - 0.03 * amps, motors, known_ohm=0.03)
    assert worst(found) < 1e-6
    assert {ohm for rate, ohm in found if not math.isnan(rate)} == {0.03}


def test_noise_stays_noise() -> None:
    rng = random.Random(1)
    found = slopes(
        lambda _at_s, amps: 15.5 - 0.02 * amps + rng.gauss(0, 0.02), lambda _at_s: 20 + rng.gauss(0, 1.0), 300
    )
    settled = [rate for rate, _ in found[40:]]
    assert max(map(abs, settled)) < 60.0


def test_too_little_is_no_slope() -> None:
    fitted = LoadFreeSlope(WINDOW_S, LEAST_S)
    assert math.isnan(fitted.fit(0.0)[0])
    for second in range(10):
        fitted.add(float(second), 16.0, 1.0)
    assert math.isnan(fitted.fit(9.0)[0])
    fitted.add(9.0, 3.0, 1.0)  # not newer
    fitted.add(10.0, 16.0, 1.0)
    assert fitted.fit(10.0) == (0.0, 0.0)
    assert math.isnan(fitted.fit(75.0)[0])
