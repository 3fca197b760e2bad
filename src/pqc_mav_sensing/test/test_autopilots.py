# SPDX-License-Identifier: Apache-2.0
"""Battery readings of autopilots as they come from the factory: what they send, when, and what they do when asked.

The times are those seen of PX4 v1.15 (BATTERY_STATUS every 2.01 to 2.02 s, SYS_STATUS every second) and of ArduPilot
(heartbeats alone, until it is asked). The stream is simulated, each datagram is MAVLink's own.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from test_mavlink_reader import battery, heartbeat, packed, sys_status

from pqc_mav_sensing import chemistry
from pqc_mav_sensing.battery_estimator import BatteryEstimator
from pqc_mav_sensing.mavlink_reader import MavlinkReader
from pqc_mav_sensing.stream_requests import StreamRequests
from pqc_mav_sensing.vehicle_tracker import VehicleTracker

STEP_S = 0.02
CELL_MV = 3900
TOLD = {0: heartbeat(), 1: sys_status(4 * CELL_MV), 147: battery([CELL_MV] * 4)}


@dataclass
class Autopilot:
    """`every_s`: message -> between which two intervals it comes. `obeys`: sends what it is asked for."""

    every_s: Mapping[int, tuple[float, float]]
    obeys: bool
    due_s: dict[int, float] = field(default_factory=dict)

    def sends(self, now_s: float, chance: random.Random) -> list[bytes]:
        out = []
        for message, between in self.every_s.items():
            if now_s >= self.due_s.setdefault(message, between[0] * chance.random()):
                self.due_s[message] += chance.uniform(*between)
                out.append(packed(TOLD[message]))
        return out

    def asked(self, message: int, interval_us: int) -> None:
        if self.obeys and message in TOLD:
            self.every_s = {**self.every_s, message: (interval_us / 1e6, interval_us / 1e6)}
            self.due_s.pop(message, None)


BEAT = {0: (1.0, 1.0)}
PX4 = {**BEAT, 1: (0.99, 1.01), 147: (2.01, 2.02)}


@pytest.mark.parametrize(
    ("every_s", "obeys"),
    [(PX4, True), (PX4, False), ({**BEAT, 147: (2.01, 2.02)}, False), ({**BEAT, 1: (1.9, 2.1)}, False), (BEAT, True)],
    ids=["px4", "px4 that refuses", "no SYS_STATUS", "SYS_STATUS alone, slow", "ardupilot unasked"],
)
def test_the_battery_is_known_ten_seconds_after_the_first_heartbeat_and_stays_so(
    every_s: Mapping[int, tuple[float, float]], obeys: bool
) -> None:
    autopilot, chance = Autopilot(every_s, obeys), random.Random(7)
    requests = StreamRequests()
    reader = MavlinkReader(VehicleTracker(), requests=requests)
    estimator = BatteryEstimator(chemistry.find("lipo"), 0.0)
    unknown = []
    for step in range(int(300 / STEP_S)):
        now_s = step * STEP_S
        for datagram in autopilot.sends(now_s, chance):
            for raw in reader.read(datagram, now_s):
                estimator.add(raw)
        if (due := requests.due(now_s)) is not None:
            autopilot.asked(*due)
            requests.answered(0 if obeys else 4, now_s)
        if now_s >= 10.0 and not estimator.state(now_s).valid:
            unknown.append(now_s)
    assert not unknown
    state = estimator.state(300.0)
    assert state.voltage_v == pytest.approx(15.6) and state.state_of_charge == pytest.approx(0.7, abs=0.05)
