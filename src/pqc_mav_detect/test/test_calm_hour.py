# SPDX-License-Identifier: Apache-2.0
"""An hour of ordinary operation, simulated: restarts of the peer and a machine without processor time are no attack."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from captures import capture
from pymavlink.dialects.v20 import common as mavlink
from scenes import LEAST, Scene

from pqc_mav_detect.capture import CALM_S, CaptureRules, Slot
from pqc_mav_detect.classes import Level
from pqc_mav_detect.detector import Detector
from pqc_mav_detect.detectors import RULES, XGBOOST, make
from pqc_mav_detect.episodes import Episodes
from pqc_mav_detect.rules.detector import Rules
from pqc_mav_detect.window import PERIOD_S, LinkView, Window
from pqc_mav_sim.autopilot import Autopilot, AutopilotConfig
from pqc_mav_sim.frames import parse_datagram
from pqc_mav_sim.rates import STREAMS

HOUR_S = 3600.0


def ordinary(seconds: float, hz: float, seed: int) -> list[Window]:
    """A gcs restarts every 5 minutes; every 2 minutes the machine has no processor for a while, and says how long."""
    chance, scene = random.Random(seed), Scene("drone")
    kernel = {"packets": hz + 80.0, "bytes": 60_000.0, "taken": hz + 75.0, "waited_ns": 2e5}
    found = scene.run(15.0, hz, kernel)
    ends_s = scene.now_s + seconds
    restart_s, busy_s = scene.now_s + 60.0, scene.now_s + 100.0
    while scene.now_s < ends_s:
        if scene.now_s >= restart_s:
            restart_s += 300.0
            found += scene.run(chance.uniform(2.0, 6.0), 0.0, {**kernel, "packets": 80.0, "taken": 75.0})
            found += scene.run(1.0, 0.4 * hz, kernel, hs_unknown=1.0, hs_repeated=2.0, control=3.0)
            found += scene.run(2.0, 3 * hz, kernel)  # the list of parameters
        elif scene.now_s >= busy_s:
            busy_s += 120.0
            for _ in range(chance.randrange(5, 20)):
                late_s = chance.uniform(0.0, 0.4)
                scene.now_s += late_s
                starved = {**kernel, "waited_ns": 1e9 * late_s / PERIOD_S}
                scene.link = LinkView(0.0, delay_ms=1e3 * 3.0 * late_s)
                scene.peer_at_s = scene.now_s - 3.0 - 4.0 * late_s  # reports wait for a processor, too
                found += scene.run(PERIOD_S, chance.uniform(0.5, 1.5) * hz, starved, skipped=10.0, skips=10.0)
            scene.link, scene.peer_at_s = LinkView(0.0), None
        else:
            found += scene.run(1.0, chance.gauss(hz, hz / 20), kernel)
    return found


def strongest(detector: Detector, windows: list[Window]) -> tuple[Level, str]:
    episodes = Episodes()
    said = [episodes.update(detector.update(window), window.time_s) for window in windows]
    worst = max(said, key=lambda verdict: verdict.level)
    return worst.level, worst.reason


def test_the_rules_call_an_hour_of_restarts_and_starvation_no_attack() -> None:
    level, reason = strongest(Rules(LEAST), ordinary(HOUR_S, 25.0, seed=4))
    assert level <= Level.SUSPICIOUS, reason


@pytest.mark.parametrize("name", [RULES, XGBOOST])
def test_each_shipped_detector_calls_ten_minutes_of_it_no_attack(name: str) -> None:
    level, reason = strongest(make(name), ordinary(600.0, 320.0, seed=5))
    assert level <= Level.SUSPICIOUS, reason


@pytest.mark.parametrize("like", ["px4", "ardupilot"])
def test_what_an_autopilot_sends_before_and_after_it_is_asked_is_no_attack(like: str) -> None:
    autopilot = Autopilot(AutopilotConfig(rate_hz=100.0, like=like, profile="client"), 0.0)
    scene, windows = Scene(), []
    for turn in range(600):
        now_s = turn * PERIOD_S
        if turn == 200:  # ground software connects: every stream, and the whole list of parameters
            for stream in STREAMS:
                autopilot.scheduler.set_interval(stream.msg_id, 0, now_s)
            list_all = mavlink.MAVLink_param_request_list_message(1, 1)
            packed = list_all.pack(mavlink.MAVLink(None, srcSystem=255, srcComponent=190))
            for frame in parse_datagram(bytes(packed)).frames:
                autopilot.receive(frame, now_s)
        count = len(autopilot.tick(now_s)) + len(autopilot.due(now_s))
        windows += scene.run(PERIOD_S, count / PERIOD_S)
    assert max(window.values["opened"] for window in windows) > 200, "the list was sent"
    level, reason = strongest(Rules(LEAST), windows)
    assert level <= Level.SUSPICIOUS, reason


def test_a_calm_capture_of_an_hour_with_restarts_has_no_sure_alarm() -> None:
    def change(slot: Slot) -> Slot:
        since_s = slot.time_s % 300.0
        if slot.time_s < 60.0 or since_s > 6.0:
            return slot
        count = 0.0 if since_s < 4.0 else 90.0  # away, then the list of parameters
        return replace(slot, packets=count, bytes=55.0 * count, mavlink_packets=count)

    slots, episodes = capture(HOUR_S, change), Episodes()
    rules = CaptureRules([slot for slot in slots if slot.time_s < CALM_S])
    said = [episodes.update(rules.update(slot, PERIOD_S), slot.time_s) for slot in slots]
    worst = max(said, key=lambda verdict: verdict.level)
    assert worst.level <= Level.SUSPICIOUS, worst.reason
