# SPDX-License-Identifier: Apache-2.0
"""A process without a processor, simulated: its timers ring late, and what came meanwhile is read after them."""

from __future__ import annotations

import pytest
from test_mavlink_reader import battery, heartbeat, packed

from pqc_mav_sensing import chemistry
from pqc_mav_sensing.battery_estimator import BatteryEstimator
from pqc_mav_sensing.mavlink_reader import MavlinkReader
from pqc_mav_sensing.own_lateness import MOST_S, USUAL_S, OwnLateness
from pqc_mav_sensing.vehicle_tracker import VehicleTracker


def test_in_time_and_at_the_first_ring_it_is_now() -> None:
    late = OwnLateness(1.0)
    assert [late.judged_s(at) for at in (100.0, 101.0, 102.0 + USUAL_S / 2, 102.9)] == [
        *(100.0, 101.0, 102.0 + USUAL_S / 2, 102.9)
    ]


def test_a_late_ring_judges_by_when_it_was_due_once() -> None:
    late = OwnLateness(1.0)
    late.judged_s(100.0)
    assert late.judged_s(104.5) == pytest.approx(101.0) and late.judged_s(105.5) == 105.5
    assert late.judged_s(106.5 + MOST_S + 0.1) == pytest.approx(106.5 + MOST_S + 0.1), "nothing is known after that"


@pytest.mark.parametrize(("stop_s", "silent"), [(4.0, False), (4.0, True)], ids=["a stop of our own", "a silent peer"])
def test_a_stop_of_our_own_is_no_missing_battery_and_no_lost_heartbeat(stop_s: float, silent: bool) -> None:
    estimator, vehicle = BatteryEstimator(chemistry.find("lipo"), 0.0), VehicleTracker()
    reader, late = MavlinkReader(vehicle), OwnLateness(0.5)
    known = []

    def read(at_s: float) -> None:
        for message in (heartbeat(), battery([3900] * 4)):
            for raw in reader.read(packed(message), at_s):
                estimator.add(raw)

    def ring(at_s: float) -> None:
        judged_s = late.judged_s(at_s)
        known.append(estimator.state(judged_s).valid and vehicle.view(judged_s).valid)

    now_s = 0.0
    for _ in range(40):
        now_s += 0.5
        read(now_s)
        ring(now_s)
    assert all(known[5:])
    if silent:
        for _ in range(round(stop_s / 0.5)):
            now_s += 0.5
            ring(now_s)
        assert not known[-1]
        return
    now_s += stop_s
    ring(now_s)  # before what waits is read
    for _ in range(round(stop_s / 0.5)):
        read(now_s)
    for _ in range(4):
        read(now_s)
        now_s += 0.5
        ring(now_s)
    assert all(known[5:])
