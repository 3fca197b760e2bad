# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from pqc_mav_bench.collectors.power import summarise


def readings(watts: list[float], *, valid: bool = True, source: str = "ina219") -> list[tuple[float, SimpleNamespace]]:
    """Ten a second, from 0 s on; the k-th ends at 0.1 (k + 1)."""
    found, energy = [], 0.0
    for number, power in enumerate(watts):
        energy += 0.1 * power
        sample = SimpleNamespace(
            interval_s=0.1,
            source=source,
            measured=source != "model",
            valid=valid,
            voltage_v=5.0,
            current_a=math.nan,
            power_mean_w=power,
            power_min_w=power - 1,
            power_peak_w=power + 1,
            energy_j=energy,
            samples=100,
            rate_hz=1000.0,
            duplicates=1,
            errors=0,
        )
        found.append((0.1 * (number + 1), sample))
    return found


def test_energy_is_the_integral_over_the_window():
    figures = summarise(readings([4.0] * 10 + [8.0] * 10), 0.5, 1.5)
    assert figures["energy_j"] == pytest.approx(0.5 * 4 + 0.5 * 8)
    assert figures["power_mean_w"] == pytest.approx(6.0)
    assert (figures["power_peak_w"], figures["power_min_w"]) == (9.0, 3.0)
    assert figures["voltage_v"] == pytest.approx(5.0)
    assert figures["current_a"] is None
    assert figures["measured"] is True


def test_windows_that_follow_each_other_add_up():
    trace = readings([float(k % 7) for k in range(40)])
    whole = summarise(trace, 0.33, 3.21)["energy_j"]
    parts = sum(summarise(trace, a, b)["energy_j"] for a, b in ((0.33, 1.27), (1.27, 2.0), (2.0, 3.21)))
    assert parts == pytest.approx(whole)


def test_a_window_cut_by_the_trace_covers_less_time():
    figures = summarise(readings([4.0] * 10), 0.5, 3.0)
    assert figures["duration_s"] == pytest.approx(0.5)
    assert figures["power_mean_w"] == pytest.approx(4.0)


@pytest.mark.parametrize(
    "trace, window",
    [
        ([], (0, 1)),
        (readings([4.0] * 5), (2.0, 3.0)),
        (readings([4.0] * 5, valid=False), (0, 1)),
        (readings([math.nan] * 5), (0, 1)),
    ],
)
def test_without_a_valid_reading_in_it_there_is_nothing(trace, window):
    assert summarise(trace, *window) == {}


def test_a_model_is_not_measured():
    assert summarise(readings([4.0] * 10, source="model"), 0.0, 1.0)["measured"] is False
