# SPDX-License-Identifier: Apache-2.0
"""Battery and phase out of the simulated vehicle that sends what ArduPilot and PX4 send unasked (simulated)."""

from __future__ import annotations

import pytest
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sensing import chemistry
from pqc_mav_sensing.battery_estimator import BatteryEstimator
from pqc_mav_sensing.mavlink_messages import interval_request
from pqc_mav_sensing.mavlink_reader import MavlinkReader
from pqc_mav_sensing.phase import Phase
from pqc_mav_sensing.stream_requests import StreamRequests
from pqc_mav_sensing.vehicle_tracker import VehicleTracker
from pqc_mav_sim.autopilot import Autopilot, AutopilotConfig
from pqc_mav_sim.frames import parse_datagram

STEP_S = 0.05


@pytest.mark.parametrize("like", ["px4", "ardupilot"])
@pytest.mark.parametrize("may_ask", [True, False])
def test_a_flight_is_seen_from_ten_seconds_after_boot_on(like: str, may_ask: bool) -> None:
    autopilot = Autopilot(AutopilotConfig(rate_hz=100.0, like=like, cruise_s=20.0), 0.0)
    mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    vehicle, requests = VehicleTracker(), StreamRequests()
    reader, estimator = MavlinkReader(vehicle, requests=requests), BatteryEstimator(chemistry.find("lipo"), 0.0)
    unknown, phases = [], set()
    for step in range(round(60.0 / STEP_S)):
        now_s = step * STEP_S
        for message in (
            *autopilot.tick(now_s),
            *(autopilot.telemetry.build(each, now_s) for each in autopilot.due(now_s)),
        ):
            for raw in reader.read(bytes(message.pack(mav)), now_s):
                estimator.add(raw)
        if may_ask and (due := requests.due(now_s)) is not None:
            for frame in parse_datagram(interval_request(reader.system, 1, *due)).frames:
                autopilot.receive(frame, now_s)
        view = vehicle.view(now_s)
        phases.add(view.phase)
        if now_s >= 10.0 and not (estimator.state(now_s).valid and view.valid):
            unknown.append(now_s)
    if like == "ardupilot" and not may_ask:
        assert len(unknown) == round(50.0 / STEP_S), "it sends heartbeats alone"
        return
    assert not unknown
    assert Phase.TAKEOFF in phases and requests.said.count("accepted") == (4 if like == "ardupilot" else may_ask)
