# SPDX-License-Identifier: Apache-2.0
"""Node `battery`: publishes `battery`, `vehicle` and `battery_state` out of MAVLink or mavros."""

import math
import threading
import time
from collections.abc import Iterable
from functools import partial
from typing import Any

from pqc_mav_interfaces.msg import BatteryHealth, VehicleState
from sensor_msgs.msg import BatteryState

from pqc_mav_common.diagnostics import LOW_CHARGE, Diagnostic, Level
from pqc_mav_common.parameters import ParameterSpec
from pqc_mav_common.qos import sensor
from pqc_mav_sensing import chemistry, conversions, qos
from pqc_mav_sensing.battery_estimator import BatteryEstimator, RawBattery
from pqc_mav_sensing.battery_estimator import BatteryState as BatteryFigures
from pqc_mav_sensing.mavlink_messages import interval_request
from pqc_mav_sensing.mavlink_reader import MavlinkReader
from pqc_mav_sensing.mavlink_tap import MavlinkTap
from pqc_mav_sensing.mavros_source import MavrosSource
from pqc_mav_sensing.node_base import SensingNode
from pqc_mav_sensing.own_lateness import OwnLateness
from pqc_mav_sensing.phase import Phase
from pqc_mav_sensing.stream_requests import StreamRequests
from pqc_mav_sensing.vehicle_tracker import VehicleTracker

NODE_NAME = "pqc_battery"
SOURCES = {"udp": "mavlink", "mavros": "mavros"}
BATTERY_S = 1.0
VEHICLE_S = 0.5
LOOK_S = 0.2  # how soon a change of `armed` or `phase` is noticed; as often as the tap is emptied
PASS_ON_S = 0.2  # `battery_state` at most five times a second

PARAMETERS = (
    ParameterSpec(
        "mavlink",
        "udp",
        "Where battery and vehicle state come from: udp = a copy of the autopilot's MAVLink that the proxy sends to "
        "'tap'; mavros = the topics of mavros (battery, state and others).",
        choices=("udp", "mavros"),
    ),
    ParameterSpec(
        "tap",
        "127.0.0.1:14591",
        "With mavlink udp: address on this machine where the copy arrives, host:port; 'plain_tap' of the drone's proxy "
        "is set to the same address.",
    ),
    ParameterSpec("mavlink_system", 0, "With mavlink udp: system id of the vehicle; 0 = the first one heard.", 0, 255),
    ParameterSpec(
        "request_streams",
        True,
        "With mavlink udp: ask the autopilot for battery, position, speed and landed state by SET_MESSAGE_INTERVAL, "
        "if they have not come for 5 s, as from an ArduPilot that nobody has asked for streams, or come less than once "
        "a second, as the battery of a PX4; again once a minute while they still do not, unless it refuses. "
        "The proxy passes that on if its 'plain_tap_requests' is true.",
    ),
    ParameterSpec("battery_id", 0, "Id of the flight battery in BATTERY_STATUS.", 0, 255),
    ParameterSpec("mavros_namespace", "/mavros", "With mavlink mavros: namespace of mavros' topics."),
    ParameterSpec("chemistry", "lipo", "Profile of the battery's chemistry in the file of chemistries."),
    ParameterSpec(
        "chemistries_file", "", "File of chemistry profiles; empty = the shipped one (lipo, liion, lifepo4, nimh)."
    ),
    ParameterSpec(
        "capacity_mah",
        0.0,
        "Rated capacity of the pack; 0 = not known: the autopilot's own percentage is the charge, and if it gives "
        "none, the voltage tells it, and the endurance is that of 5,000 mAh.",
        0.0,
        1e6,
        unit="mAh",
    ),
    ParameterSpec("cells", 0, "Cells in series; 0 = as reported, else guessed from the first voltage.", 0, 24),
    ParameterSpec(
        "resistance_mohm",
        0.0,
        "Resistance of the pack with its wiring; 0 = estimated in flight, beginning with what the chemistry suggests. "
        "The voltage it drops under load counts neither as a falling voltage nor as lost charge.",
        0.0,
        1000.0,
        unit="mohm",
    ),
    ParameterSpec(
        "battery_stale_s",
        2.0,
        "Age at which a battery reading is invalid. If readings come more seldom than that: 2.5 times as long as they "
        "are apart, but no more than five times this.",
        0.2,
        60.0,
        unit="s",
    ),
    ParameterSpec("heartbeat_limit_s", 3.0, "Silence of the autopilot after which it is unknown.", 0.5, 60.0, unit="s"),
    ParameterSpec(
        "arming_grace_s",
        20.0,
        "Without a current sensor: for this long after arming, take-off or disarming the voltage's slope is not known.",
        0.0,
        600.0,
        unit="s",
    ),
    ParameterSpec("voltage_window_s", 60.0, "Window of the voltage's slope.", 2.0, 600.0, unit="s"),
)


class BatteryNode(SensingNode):
    """Battery health and mission phase of the vehicle."""

    def __init__(self, siblings: Iterable[str] = (), **arguments: Any) -> None:
        super().__init__(NODE_NAME, PARAMETERS, siblings, **arguments)
        self._lock = threading.Lock()  # the source's thread feeds what the timers read
        self._battery_late, self._vehicle_late = OwnLateness(BATTERY_S), OwnLateness(LOOK_S)
        self._source: MavlinkTap | MavrosSource | None = None

    def offer(self) -> None:
        """The battery and the vehicle."""
        super().offer()
        self._battery = self.create_lifecycle_publisher(BatteryHealth, "battery", qos.state())
        self._vehicles = self.create_lifecycle_publisher(VehicleState, "vehicle", qos.state())
        self._pass_on = self.create_lifecycle_publisher(BatteryState, "battery_state", sensor())
        self.every(BATTERY_S, self._publish_battery)

    def set_up(self) -> None:
        """Makes the source of readings and what is known of them."""
        values = self.values
        path = values.path("chemistries_file") if values["chemistries_file"] else chemistry.SHIPPED
        self._chemistry = chemistry.find(values["chemistry"], path)
        self._estimator = BatteryEstimator(
            self._chemistry,
            values["capacity_mah"] / 1000.0,
            values["cells"],
            stale_s=values["battery_stale_s"],
            rate_window_s=values["voltage_window_s"],
            resistance_ohm=values["resistance_mohm"] / 1000.0,
            grace_s=values["arming_grace_s"],
        )
        self._vehicle = VehicleTracker(heartbeat_limit_s=values["heartbeat_limit_s"])
        self._shown: tuple[bool, int, float | None] | None = None
        self._shown_s = self._passed_on_s = 0.0
        self._source_name = SOURCES[values["mavlink"]]
        self._source = (
            MavrosSource(
                self, values["mavros_namespace"], values["battery_id"], self._vehicle, self._on_raw, self._lock
            )
            if values["mavlink"] == "mavros"
            else MavlinkTap(values["tap"], self._on_datagram)
        )
        asks = values["request_streams"] and isinstance(self._source, MavlinkTap)
        self._requests = StreamRequests(lost_s=values["heartbeat_limit_s"]) if asks else None
        self._sequence = 0
        self._reader = MavlinkReader(
            self._vehicle,
            system=values["mavlink_system"],
            battery_id=values["battery_id"],
            requests=self._requests,
        )
        self._tap_s = -math.inf  # when the tap wants to be looked at again
        if isinstance(self._source, MavrosSource):
            self.create_timer(LOOK_S, self._publish_vehicle)

    def begin(self) -> None:
        """Listens at the tap, where there is one."""
        if isinstance(self._source, MavlinkTap):
            # One thread empties the tap and looks at what has changed: no timer has to wake another one for that.
            self.sample_with("mavlink-tap", partial(self._step, self._source))

    def end(self) -> None:
        """Ends the thread and releases the port."""
        super().end()
        if self._source is not None:
            self._source.close()

    def diagnose(self) -> list[Diagnostic]:
        """Battery and vehicle, each with why it cannot be trusted."""
        now_s = time.monotonic()
        with self._lock:
            state, view = self._estimator.state(now_s), self._vehicle.view(now_s)
            accepted, refused = self._estimator.accepted, self._estimator.refused
            broken = self._reader.broken
            asked = self._requests.said if self._requests is not None else ""
        figures = {"accepted": accepted, "refused": refused, "source": self._source_name, "cells": state.cells}
        battery = Diagnostic(
            "battery",
            _level(state),
            _said(state) if state.valid else self._problem() or state.reason,
            {**figures, "charge": state.state_of_charge, "asked": asked},
        )
        vehicle = Diagnostic(
            "vehicle",
            Level.OK if view.valid else Level.ERROR,
            f"{view.phase.name.lower()}, mode {view.mode}" if view.valid else self._problem() or view.reason,
            {"broken_frames": broken, "source": self._source_name},
        )
        return [battery, vehicle]

    def _problem(self) -> str:
        return self._source.problem if self._source is not None else ""

    def _step(self, tap: MavlinkTap, now_s: float) -> float:
        if now_s >= self._tap_s:
            self._tap_s = tap.step(now_s)
            self._ask(tap, now_s)
        self._publish_vehicle()
        return min(self._tap_s, now_s + LOOK_S)

    def _ask(self, tap: MavlinkTap, now_s: float) -> None:
        """For a message that sensing needs and that does not come."""
        with self._lock:
            due = self._requests.due(now_s) if self._requests is not None else None
        if due is not None:
            self._sequence += 1
            tap.answer(interval_request(self._reader.system, self._sequence, *due))
            self.get_logger().info(f"asking the autopilot for message {due[0]}, which does not come often enough")

    def _on_datagram(self, datagram: bytes, at_s: float) -> None:
        with self._lock:
            readings = self._reader.read(datagram, at_s)
            for raw in readings:
                self._estimator.add(raw)
        for raw in readings:
            self._pass(raw)

    def _on_raw(self, raw: RawBattery) -> None:
        with self._lock:
            self._estimator.add(raw)
        self._pass(raw)

    def _pass(self, raw: RawBattery) -> None:
        # Without a voltage it is no BatteryState, and may stand beside one that is.
        # Readings are as old as their batch, and batches now a little more apart, now a little less.
        if not math.isnan(raw.voltage_v) and raw.at_s - self._passed_on_s >= PASS_ON_S / 2:
            self._passed_on_s = raw.at_s
            message = conversions.battery_state_message(raw, self._chemistry.name, self.header(raw.at_s))
            self._pass_on.publish(message)

    def _publish_battery(self) -> None:
        with self._lock:
            state = self._estimator.state(self._battery_late.judged_s(time.monotonic()))
        source = self._source_name if state.at_s is not None else "none"
        self._battery.publish(conversions.battery_message(state, source, self._chemistry.name, self.header(state.at_s)))

    def _publish_vehicle(self) -> None:
        now_s = time.monotonic()
        # The tap's thread has just read what waited; for mavros the executor does, maybe after this.
        judged_s = self._vehicle_late.judged_s(now_s) if isinstance(self._source, MavrosSource) else now_s
        with self._lock:
            view = self._vehicle.view(judged_s)
            if view.valid:
                self._estimator.follow(now_s, view.armed, view.phase is Phase.TAKEOFF)
        # A new heartbeat is published at once too, so that subscribers do not see an older age than it has.
        identity = (view.armed, int(view.phase), view.at_s)
        if identity == self._shown and now_s - self._shown_s < VEHICLE_S - LOOK_S / 2:
            return
        self._shown, self._shown_s = identity, now_s
        source = self._source_name if view.at_s is not None else "none"
        self._vehicles.publish(conversions.vehicle_message(view, source, self.header(view.at_s)))


def _level(state: BatteryFigures) -> Level:
    if not state.valid:
        return Level.ERROR
    return Level.WARN if state.state_of_charge < LOW_CHARGE else Level.OK  # an unknown charge is NaN, and not low


def _said(state: BatteryFigures) -> str:
    volts = f"{state.voltage_v:.2f} V"
    return volts if math.isnan(state.state_of_charge) else f"{volts}, {state.state_of_charge:.0%} left"
