# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sensing.power_window import EnergyMeter, PowerWindow


def test_a_summary() -> None:
    window = PowerWindow(10.0)
    for watts in (4.0, 6.0, 5.0):
        window.sample(5.0, watts / 5.0, watts)
    window.duplicates += 2
    window.errors += 1
    summary = window.finish(10.1)
    assert (summary.power_min_w, summary.power_mean_w, summary.power_peak_w) == (4.0, 5.0, 6.0)
    assert summary.voltage_v == 5.0 and summary.current_a == pytest.approx(1.0)
    assert (summary.samples, summary.duplicates, summary.errors) == (3, 2, 1)
    assert summary.rate_hz == pytest.approx(30.0)
    assert window.finish(10.2).samples == 0


def test_without_samples_there_are_no_figures() -> None:
    summary = PowerWindow(0.0).finish(0.1)
    assert math.isnan(summary.power_mean_w) and math.isnan(summary.power_peak_w) and summary.rate_hz == 0.0


@given(st.lists(st.tuples(st.floats(0.0001, 0.4), st.floats(0.0, 20.0)), min_size=2, max_size=50))
def test_energy_is_the_trapezoid(steps: list[tuple[float, float]]) -> None:
    meter, at_s, expected, last_w = EnergyMeter(), 0.0, 0.0, None
    for step_s, watts in steps:
        at_s += step_s
        if last_w is not None:
            expected += (last_w + watts) / 2 * step_s
        meter.sample(at_s, watts)
        last_w = watts
    assert meter.joules == pytest.approx(expected) and meter.missing_s == 0.0


def test_a_linear_ramp_is_exact() -> None:
    meter = EnergyMeter()
    for index in range(1001):
        meter.sample(index / 1000, 2.0 + 4.0 * index / 1000)
    assert meter.joules == pytest.approx(4.0)


def test_what_was_drawn_in_a_gap_is_not_invented() -> None:
    meter = EnergyMeter(longest_gap_s=0.5)
    for at_s in (0.0, 0.1, 5.0, 5.1):
        meter.sample(at_s, 10.0)
    assert meter.joules == pytest.approx(2.0) and meter.missing_s == pytest.approx(4.9)
    meter.sample(5.0, 1000.0)
    assert meter.joules == pytest.approx(2.0)
