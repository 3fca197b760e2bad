# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_sim.uplink import UplinkSchedule


@settings(deadline=None)  # nothing here is about time, and the machine may be busy
@given(st.floats(1.0, 1000.0), st.floats(0.0005, 0.2))
def test_rate_is_exact_and_pings_stay_near_20_a_second(hz, wake):
    schedule = UplinkSchedule(hz, 50.0)
    sent, t = [], 50.0
    while t < 70.0:
        t += wake
        sent += schedule.due(t)
    assert len(sent) == pytest.approx((t - 50.0) * hz, abs=1.01)
    assert schedule.skipped == 0
    assert sum(sent) == pytest.approx(len(sent) / max(1, round(hz / 20.0)), abs=1.01)


def test_zero_means_nothing():
    schedule = UplinkSchedule(0.0, 0.0)
    assert schedule.next_deadline() is None
    assert schedule.due(1e9) == []


def test_a_stall_is_not_made_up_for():
    schedule = UplinkSchedule(320.0, 0.0)
    assert len(schedule.due(0.2)) == 65
    burst = schedule.due(11.0)
    assert len(burst) <= 82
    assert len(burst) + schedule.skipped == pytest.approx(320 * 10.8, abs=2)


@pytest.mark.parametrize("hz", [-1.0, 5001.0, float("nan"), float("inf")])
def test_impossible_rates(hz):
    with pytest.raises(ValueError, match="out of range"):
        UplinkSchedule(hz, 0.0)
