# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sensing.slope import SlidingSlope


@given(st.floats(-1000, 1000), st.floats(-50, 50))
def test_a_line_has_its_slope(offset: float, per_minute: float) -> None:
    slope = SlidingSlope(30.0)
    for second in range(40):
        slope.add(second, offset + per_minute * second / 60.0)
    assert slope.per_minute(39.0) == pytest.approx(per_minute, abs=1e-6)


def test_too_little_is_nan() -> None:
    slope = SlidingSlope(30.0)
    assert math.isnan(slope.per_minute(0.0))
    for second in range(15):
        slope.add(second, 1.0)
    assert math.isnan(slope.per_minute(14.0))
    slope.add(15.0, 1.0)
    assert slope.per_minute(15.0) == 0.0


def test_only_the_window_counts() -> None:
    slope = SlidingSlope(10.0)
    for second in range(100):
        slope.add(second, 0.0)
    for second in range(100, 112):
        slope.add(second, second - 100)
    assert slope.per_minute(111.0) == pytest.approx(60.0)
    assert math.isnan(slope.per_minute(200.0))


def test_nonsense_is_ignored() -> None:
    slope = SlidingSlope(10.0)
    for second in range(11):
        slope.add(second, 2.0 * second)
    slope.add(10.0, 1e9)
    slope.add(3.0, 1e9)
    slope.add(11.0, math.nan)
    assert slope.per_minute(10.0) == pytest.approx(120.0)
    slope.clear()
    assert math.isnan(slope.per_minute(10.0))


def test_a_window_is_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        SlidingSlope(0.0)
