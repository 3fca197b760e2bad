# SPDX-License-Identifier: Apache-2.0
"""Scenes in which sensing, detectors or the signatures of MAVLink watch a real autopilot."""

import os
import time
from collections import Counter
from collections.abc import Sequence

import courses
from messages import DOWN, UP
from scene import Watch

from autopilots.flight import Flight
from autopilots.ground import AUTOPILOT, LateError, mavlink
from autopilots.pilot import Pilot
from pqc_mav_bringup.description import Respawn
from pqc_mav_detect.classes import Level
from pqc_mav_detect.detectors import RULES, XGBOOST, make
from pqc_mav_detect.episodes import Episodes
from pqc_mav_detect.window import PERIOD_S, Window
from pqc_mav_sensing import chemistry
from pqc_mav_sensing.battery_estimator import BatteryEstimator, BatteryState
from pqc_mav_sensing.mavlink_messages import interval_request
from pqc_mav_sensing.mavlink_reader import MavlinkReader
from pqc_mav_sensing.mavlink_tap import MavlinkTap
from pqc_mav_sensing.stream_requests import StreamRequests
from pqc_mav_sensing.vehicle_tracker import VehicleTracker

Figures = dict[str, float]
TAP = "127.0.0.1:14591"
RESTARTS = 4
PACKS = (3, 4, 5, 6)
_FULL_V, _CHANGED_S = 4.18, 6.0
_VALID_S = 60.0
_SETTLED_S, _BETWEEN_S = 8.0, 10.0
_SIGNED_S = 20.0
_LISTEN_S = 20.0
_TELEMETRY_S, _LIST_S = 90.0, 60.0
_EPOCH_S = 1_420_070_400  # 2015-01-01, from which MAVLink's signatures count
DETECTORS = (RULES, XGBOOST)
#: Of the windows of the time that was watched; with fewer, a verdict that did not come says nothing.
_LEAST = 0.8


class Sensing:
    """What sensing makes of the autopilot's messages, at the tunnel's copy of them; a context manager."""

    def __init__(self, flight: Flight) -> None:
        self._ground, self._requests = flight.ground, StreamRequests()
        self._reader = MavlinkReader(VehicleTracker(), requests=self._requests)
        self._sequence = 0
        self.forget()
        self._tap = MavlinkTap(TAP, self._take)
        flight.network["drone"].call(lambda: self._tap.step(time.monotonic()))

    def forget(self) -> None:
        """Another pack is there."""
        self._estimator = BatteryEstimator(chemistry.find("lipo", chemistry.SHIPPED), 0.0)

    def _take(self, datagram: bytes, at_s: float) -> None:
        for raw in self._reader.read(datagram, at_s):
            self._estimator.add(raw)

    def _step(self) -> BatteryState:
        now = time.monotonic()
        self._tap.step(now)
        due = self._requests.due(now)
        if due is not None:
            self._sequence += 1
            self._tap.answer(interval_request(self._reader.system, self._sequence, *due))
        return self._estimator.state(now)

    def valid(self, limit_s: float) -> tuple[float, BatteryState]:
        """Seconds until there is a valid battery, and that. Raises LateError."""
        try:
            seconds = self._ground.wait(lambda: self._step().valid, limit_s, "a valid battery")
        except LateError as error:
            raise LateError(f"{error}; sensing: {self._step().reason}") from None
        return seconds, self._step()

    def pass_by(self, seconds: float) -> None:
        """Let time pass."""
        end = time.monotonic() + seconds
        self._ground.wait(lambda: self._step() and time.monotonic() > end, seconds + 5.0, "the time")

    def __enter__(self) -> "Sensing":
        return self

    def __exit__(self, *_: object) -> None:
        self._tap.close()


def battery(flight: Flight) -> Figures:
    """Boot, with no ground station that asks for streams: how long until sensing has a battery that is valid."""
    with Sensing(flight) as sensing:
        flight.boot(ready=False)
        seconds, state = sensing.valid(_VALID_S)
    return {"seconds": seconds, "volts": state.voltage_v, "charge": state.state_of_charge}


def packs(flight: Flight) -> Figures:
    """Full packs of several sizes, one after the other: how many cells sensing takes each for."""
    figures: Figures = {}
    with Sensing(flight) as sensing:
        flight.boot()
        pilot = Pilot(flight.ground)
        for cells in PACKS:
            if pilot.is_ardupilot:
                flight.ground.set_parameter("SIM_BATT_VOLTAGE", cells * _FULL_V)
            else:
                flight.ground.set_integer("BAT1_N_CELLS", cells)
            sensing.pass_by(_CHANGED_S)  # what was on its way
            sensing.forget()
            figures[f"cells_{cells}"] = sensing.valid(_VALID_S)[1].cells
    return figures


def restarts(flight: Flight) -> Figures:
    """The station's end is killed and comes back; the drone's end is watched. Counts verdicts that began."""
    assert flight.pair is not None
    flight.boot()
    Pilot(flight.ground).streams()
    begun = time.monotonic()
    with Watch(flight.pair.drone, "drone") as watch:
        flight.ground.listen(_SETTLED_S)
        for _ in range(RESTARTS):
            flight.pair.gcs.kill()
            flight.ground.listen(Respawn().delay_s)
            flight.pair.gcs.start()
            flight.ground.listen(_BETWEEN_S)
    windows = watch.take()
    return {"restarts": RESTARTS, "windows": len(windows), **verdicts(windows, time.monotonic() - begun)}


def verdicts(windows: list[Window], seconds: float, detectors: Sequence[str] = DETECTORS) -> Figures:
    """How often each detector began to say each level of more than nothing in so long. Raises LateError if hardly
    anything was watched."""
    if len(windows) < _LEAST * seconds / PERIOD_S:
        raise LateError(f"only {len(windows)} windows in {seconds:.0f} s were watched")
    found: Figures = {}
    for detector in detectors:
        found |= {f"{detector}_attack": 0.0, f"{detector}_suspicious": 0.0}
        made, episodes, level = make(detector), Episodes(), Level.NONE
        for window in windows:
            verdict = episodes.update(made.update(window), window.time_s)
            if verdict.level is not level and verdict.level > level:
                found[f"{detector}_{'attack' if verdict.level is Level.ATTACK else 'suspicious'}"] += 1
                print(f"{detector}: {verdict.reason}", flush=True)
            level = verdict.level
    return found


def signed(flight: Flight) -> Figures:
    """Sign MAVLink end to end, and count what the ground refuses of it."""
    ground = flight.boot()
    Pilot(ground).streams()
    ground.listen(3.0)
    key, stamp = os.urandom(32), int((time.time() - _EPOCH_S) * 1e5)
    setup = mavlink.MAVLink_setup_signing_message(ground.system, AUTOPILOT, list(key), stamp)
    signing = ground.mav.signing
    ground.send(setup)
    ground.listen(0.2)
    signing.secret_key, signing.timestamp, signing.link_id, signing.sign_outgoing = key, stamp, 1, True
    ground.ask(lambda: ground.send(setup), ("HEARTBEAT",), 15.0, lambda _: signing.goodsig_count > 0)
    good, bad, lost = signing.goodsig_count, signing.badsig_count, ground.lost
    answered = asked = 0
    end = time.monotonic() + _SIGNED_S
    while time.monotonic() < end:
        asked += 1
        try:
            ground.command(mavlink.MAV_CMD_REQUEST_MESSAGE, mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION, limit_s=3.0)
            answered += 1
        except LateError:
            continue
        ground.listen(0.5)
    return {
        "signed": signing.goodsig_count - good,
        "refused": signing.badsig_count - bad,
        "lost": ground.lost - lost,
        "answered": answered / asked,
    }


def rates(flight: Flight) -> Figures:
    """What the autopilot sends by itself, after a request for all streams, and in the air; a second, by message."""
    ground = flight.boot()
    figures: Figures = {}

    def measure(when: str) -> None:
        before = ground.received.copy()
        ground.listen(_LISTEN_S)
        came = ground.received - before
        figures.update({f"{when}/{name}": round(count / _LISTEN_S, 2) for name, count in sorted(came.items())})
        figures[when] = came.total() / _LISTEN_S

    ground.listen(10.0)
    measure("alone")
    pilot = Pilot(ground)
    pilot.streams()
    ground.listen(2.0)
    measure("asked")
    pilot.take_off()
    measure("flying")
    return figures


def telemetry(flight: Flight) -> Figures:
    """Keep when and how large the datagrams are that an autopilot and a ground station send: a start, a list of all
    parameters, all streams, a take-off and a while in the air. The detectors' recordings send the same (courses.py)."""
    ground = flight.ground
    ground.datagrams = []
    flight.boot()
    begun = time.monotonic()
    ground.parameters(_LIST_S)
    pilot = Pilot(ground)
    pilot.take_off()
    ground.listen(_TELEMETRY_S - (time.monotonic() - begun))
    courses.write(courses.file_of(flight.model.name, courses.MADE), ground.datagrams)
    ways = Counter(way for _, way, _ in ground.datagrams)
    return {"seconds": time.monotonic() - begun, "down": ways[DOWN], "up": ways[UP]}
