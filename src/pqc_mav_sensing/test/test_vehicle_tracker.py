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
