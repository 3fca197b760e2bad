# SPDX-License-Identifier: Apache-2.0
"""The policy has a battery all flight long, whichever autopilot flies (simulated, after figures of the real ones)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_policy import senses
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import Battery, DecisionInput
from pqc_mav_sensing import chemistry
from pqc_mav_sensing.battery_estimator import BatteryEstimator
from pqc_mav_sensing.mavlink_messages import interval_request
from pqc_mav_sensing.mavlink_reader import MavlinkReader
from pqc_mav_sensing.stream_requests import StreamRequests
from pqc_mav_sensing.vehicle_tracker import VehicleTracker
from pqc_mav_sim.autopilot import Autopilot, AutopilotConfig
from pqc_mav_sim.frames import parse_datagram

STEP_S = 0.05


@pytest.mark.parametrize("like", ["px4", "ardupilot"])
def test_the_battery_rules_are_never_out_of_use(like: str) -> None:
    autopilot = Autopilot(AutopilotConfig(rate_hz=100.0, like=like, cruise_s=20.0), 0.0)
    mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    requests = StreamRequests()
    reader = MavlinkReader(VehicleTracker(), requests=requests)
    estimator = BatteryEstimator(chemistry.find("lipo"), 0.0)
    lacking = []
    for step in range(round(60.0 / STEP_S)):
        now_s = step * STEP_S
        sent = [*autopilot.tick(now_s), *(autopilot.telemetry.build(each, now_s) for each in autopilot.due(now_s))]
        for message in sent:
            for raw in reader.read(bytes(message.pack(mav)), now_s):
                estimator.add(raw)
        if (due := requests.due(now_s)) is not None:
            for frame in parse_datagram(interval_request(reader.system, 1, *due)).frames:
                autopilot.receive(frame, now_s)
        state = estimator.state(now_s)
        known = Battery(state.voltage_v, None, state.state_of_charge, state.age_s, state.valid, cells=state.cells)
        inputs = replace(DecisionInput(), battery=known)
        if now_s >= 10.0 and "battery" in senses.out(inputs, PolicyParameters()):
            lacking.append((now_s, senses.out(inputs, PolicyParameters())["battery"]))
    assert not lacking
