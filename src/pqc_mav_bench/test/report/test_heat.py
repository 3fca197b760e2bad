# SPDX-License-Identifier: Apache-2.0
"""Heatmaps do not make much of little."""

import pytest

from pqc_mav_bench.report.charts.heat import _normalise


@pytest.mark.parametrize("log", [False, True])
def test_values_that_hardly_differ_hardly_differ_in_colour(log):
    scale = _normalise([100.0, 101.0], log)
    assert float(scale(101.0)) - float(scale(100.0)) < 0.05


@pytest.mark.parametrize("log", [False, True])
def test_values_that_differ_take_all_colours(log):
    scale = _normalise([10.0, 40.0, 100.0], log)
    assert (float(scale(10.0)), float(scale(100.0))) == pytest.approx((0.0, 1.0))


def test_equal_values_and_zeros_have_a_scale():
    for values in ([5.0, 5.0], [0.0, 0.0], [-1.0, -1.0]):
        assert 0.0 <= float(_normalise(values, False)(values[0])) <= 1.0
