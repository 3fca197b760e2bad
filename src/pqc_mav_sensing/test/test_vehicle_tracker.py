# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from pqc_mav_sensing.phase import Phase
from pqc_mav_sensing.vehicle_tracker import VehicleTracker


def test_without_a_heartbeat() -> None:
    view = VehicleTracker().view(5.0)
    assert not view.valid and view.at_s is None and view.phase is Phase.UNKNOWN and math.isnan(view.heartbeat_age_s)


def test_a_flying_vehicle() -> None:
    tracker = VehicleTracker()
    tracker.heartbeat(1.0, True, "MISSION")
    tracker.motion(1.0, altitude_m=20.0)
    tracker.motion(1.1, ground_speed_m_s=5.0, climb_m_s=0.1)
    tracker.landed(1.1, 2)
    view = tracker.view(1.2)
    assert view.valid and view.armed and view.mode == "MISSION" and view.phase is Phase.CRUISE
    assert (view.relative_altitude_m, view.ground_speed_m_s, view.climb_rate_m_s) == (20.0, 5.0, 0.1)
    assert view.heartbeat_age_s == pytest.approx(0.2)


def test_an_old_heartbeat_says_nothing_about_arming() -> None:
    tracker = VehicleTracker(heartbeat_limit_s=3.0)
    tracker.heartbeat(1.0, True, "MISSION")
    view = tracker.view(4.5)
    assert not view.valid and not view.armed and view.phase is Phase.UNKNOWN and "3.5 s old" in view.reason


def test_old_motion_is_forgotten_and_nonsense_is_not_taken() -> None:
    tracker = VehicleTracker()
    tracker.heartbeat(1.0, True, "")
    tracker.motion(1.0, altitude_m=20.0, ground_speed_m_s=math.nan, climb_m_s=1e30)
    tracker.landed(1.0, 77)
    tracker.heartbeat(3.5, True, "")
    view = tracker.view(3.5)
    assert math.isnan(view.relative_altitude_m) and math.isnan(view.ground_speed_m_s) and view.valid


def test_home_is_where_it_arms_unless_the_autopilot_names_it() -> None:
    tracker = VehicleTracker()
    for at_s, armed, latitude in ((0.0, False, 47.0), (1.0, False, 47.001), (1.5, True, 47.001), (2.0, True, 47.002)):
        tracker.place(at_s, latitude, 8.0)
        tracker.heartbeat(at_s, armed, "")
    assert tracker.view(2.0).north_m == pytest.approx(111.2, abs=0.3) and tracker.view(2.0).east_m == 0.0
    tracker.home(91.0, 8.0)  # nowhere
    assert tracker.view(2.0).north_m == pytest.approx(111.2, abs=0.3)
    tracker.home(47.0, 8.0)
    tracker.heartbeat(2.1, False, "")
    tracker.heartbeat(2.2, True, "")
    assert tracker.view(2.2).north_m == pytest.approx(222.4, abs=0.5), "arming anew does not move a home that was told"
    assert math.isnan(tracker.view(4.5).north_m), "an old place"


def follow(tracker: VehicleTracker, start_s: float, seconds: float, climb_m_s: float, height_m: float) -> float:
    """Heights alone, at 4 Hz, and a slow speed over ground. Returns the last height."""
    for index in range(int(seconds * 4)):
        now_s = start_s + index / 4
        height_m += climb_m_s / 4
        tracker.heartbeat(now_s, True, tracker.view(now_s).mode)
        tracker.motion(now_s, altitude_m=height_m, ground_speed_m_s=0.3)
        tracker.view(now_s)
    return height_m


def test_a_flight_whose_heights_alone_tell_how_fast_it_climbs() -> None:
    tracker = VehicleTracker()
    tracker.heartbeat(0.0, True, "GUIDED")
    height_m = follow(tracker, 0.0, 8.0, 1.5, 0.0)
    assert tracker.view(8.0).phase is Phase.TAKEOFF
    assert tracker.view(8.0).climb_rate_m_s == pytest.approx(1.5)
    height_m = follow(tracker, 8.0, 8.0, 0.0, height_m)
    assert tracker.view(16.0).phase is Phase.HOVER
    height_m = follow(tracker, 16.0, 7.0, -0.6, 6.0)
    assert tracker.view(23.0).phase is Phase.LANDING


def test_one_height_says_nothing_about_climbing() -> None:
    tracker = VehicleTracker()
    tracker.motion(0.0, altitude_m=20.0, ground_speed_m_s=0.0)
    tracker.heartbeat(0.0, True, "")
    view = tracker.view(0.0)
    assert math.isnan(view.climb_rate_m_s) and view.phase is Phase.UNKNOWN


@pytest.mark.parametrize("mode", ["LAND", "AUTO.LAND", "QLAND", "AUTO.PRECLAND"])
def test_the_mode_says_that_it_lands(mode: str) -> None:
    tracker = VehicleTracker()
    for now_s, shown in ((0.0, "AUTO.LOITER"), (1.5, mode), (3.0, mode)):
        tracker.heartbeat(now_s, True, shown)
        tracker.motion(now_s, altitude_m=50.0, ground_speed_m_s=0.0, climb_m_s=-0.1)
        tracker.view(now_s)
    assert tracker.view(3.0).phase is Phase.LANDING
