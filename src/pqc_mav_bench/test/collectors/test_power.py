# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest
from pqc_mav_interfaces.msg import PowerSample

from pqc_mav_bench.collectors.power import Reading, summarise


def readings(watts: list[float], *, begin_s: float = 0.0, valid: bool = True, source: str = "ina219") -> list[Reading]:
    """Ten a second; the k-th ends 0.1 (k + 1) s after `begin_s`."""
    return [
        Reading.of(
            PowerSample(
                interval_s=0.1,
                source=source,
                measured=source != "model",
                valid=valid,
                voltage_v=5.0,
                current_a=math.nan,
                power_mean_w=power,
                power_min_w=power - 1,
                power_peak_w=power + 1,
                samples=100,
                rate_hz=1000.0,
                duplicates=1,
            ),
            begin_s + 0.1 * (number + 1),
        )
        for number, power in enumerate(watts)
    ]


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


def test_a_short_gap_counts_as_the_mean():
    trace = readings([4.0] * 49) + readings([4.0] * 50, begin_s=5.0)
    figures = summarise(trace, 0.0, 10.0)
    assert figures["duration_s"] == pytest.approx(9.9)
    assert figures["power_mean_w"] == pytest.approx(4.0)
    assert figures["energy_j"] == pytest.approx(4.0 * 9.9)


@pytest.mark.parametrize(
    "trace, window",
    [
        ([], (0, 1)),
        (readings([4.0] * 5), (2.0, 3.0)),
        (readings([4.0] * 5, valid=False), (0, 1)),
        (readings([math.nan] * 5), (0, 1)),
        (readings([4.0] * 10), (0.5, 3.0)),  # the sensing node ended
        (readings([4.0] * 20) + readings([4.0] * 50, begin_s=5.0), (0, 10)),  # the sensor was lost for 3 s
        (readings([4.0] * 50) + readings([4.0] * 50, begin_s=5.0, source="hwmon"), (0, 10)),
    ],
)
def test_unless_valid_readings_of_one_source_cover_it_there_is_nothing(trace, window):
    assert summarise(trace, *window) == {}


def test_a_model_is_not_measured():
    assert summarise(readings([4.0] * 10, source="model"), 0.0, 1.0)["measured"] is False
