# SPDX-License-Identifier: Apache-2.0
"""Runs the demo: proxies first, then ground client and vehicle, and everything down again in the right order.

The order matters for the counting: the vehicle starts when the tunnel is up; at the end the ground client falls silent,
then the vehicle ends, then the client, each after what was under way has arrived. So both ends have counted every
message.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pqc_mav_bringup.child import Child
from pqc_mav_bringup.description import SystemDescription, resolve
from pqc_mav_bringup.executables import command
from pqc_mav_bringup.systems import DEMO, GROUND, NODE, VEHICLE
from pqc_mav_cli.demo import result as demo_result
from pqc_mav_cli.demo.result import DemoResult, FlightResult, Reading
from pqc_mav_cli.errors import CliError
from pqc_mav_cli.ros_session import TunnelView, Watcher
from pqc_mav_cli.status_view import state_of
from pqc_mav_common.local_socket import INSIDE

DRONE_PROXY, GCS_PROXY = f"drone/{NODE}", f"gcs/{NODE}"
UP_LIMIT_S = 60.0  # a handshake may take 45 s
DRAIN_S = 0.6  # what is under way on this machine arrives in far less; more than two snapshots of the ground client
DRAIN_LIMIT_S = 10.0
COUNTERS_LIMIT_S = 10.0
READINGS = 2  # of the counters, after the flight: in one of them a packet may be half counted
TICK_S = 0.25
# The client flies, and a proxy that has started has its tunnel: they are started one after the other.
OWN = {"profile": "client", "tunnel": INSIDE}
KEPT_LINES = 200
HIGHEST_M, LOWEST_M = 8.0, 2.5
CLIMB_M_S, SINK_M_S, FLARE_M_S, FLARE_M = 1.5, 1.5, 0.7, 5.0  # the simulated vehicle's, as FlightConfig has them
CLIMB_MARGIN_S, LANDING_MARGIN_S = 3.0, 4.5  # to arm and to brake; to brake and to disarm


@dataclass(frozen=True)
class FlightPlan:
    """When the ground client acts, in seconds after it first heard the vehicle, and how high it sends it."""

    take_off_s: float
    land_s: float
    altitude_m: float
    time_to_climb: bool  # whether the altitude can be reached before the landing

    @classmethod
    def for_duration(cls, seconds: float) -> FlightPlan:
        """Climb, fly, and be on the ground again before the time is over, where it is long enough for that."""
        take_off_s = min(1.0, seconds / 8)
        altitude_m = HIGHEST_M
        while altitude_m > LOWEST_M and take_off_s + climb_s(altitude_m) + landing_s(altitude_m) > seconds:
            altitude_m -= 0.5
        land_s = max(seconds * 0.45, seconds - landing_s(altitude_m))
        return cls(take_off_s, land_s, altitude_m, time_to_climb=take_off_s + climb_s(altitude_m) <= land_s)


def climb_s(altitude_m: float) -> float:
    """Seconds from the command until the vehicle hovers there."""
    return altitude_m / CLIMB_M_S + CLIMB_MARGIN_S


def landing_s(altitude_m: float) -> float:
    """Seconds from the command until the motors stand still."""
    return max(0.0, altitude_m - FLARE_M) / SINK_M_S + min(altitude_m, FLARE_M) / FLARE_M_S + LANDING_MARGIN_S


@dataclass
class DemoState:
    """What is known while the demo runs; the view draws it."""

    phase: str = "starting the proxies"
    duration_s: float = 0.0
    flight_began_s: float | None = None  # monotonic
    views: list[TunnelView] = field(default_factory=list)
    handshake: demo_result.Handshake | None = None
    ground: dict[str, Any] = field(default_factory=dict)
    ground_summary: dict[str, Any] = field(default_factory=dict)
    vehicle_summary: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, bool] = field(default_factory=dict)
    lines: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=KEPT_LINES))

    def elapsed_s(self, now_s: float) -> float:
        """Seconds of flight so far, at most the duration."""
        return 0.0 if self.flight_began_s is None else min(now_s - self.flight_began_s, self.duration_s)

    def view(self, label: str) -> TunnelView | None:
        """The tunnel as the proxy `label` sees it."""
        return next((view for view in self.views if view.node == f"/{label}"), None)


class DemoRun:
    """One demo. `values` are the arguments of the demo system; `on_tick(state)` is called four times a second."""

    def __init__(
        self,
        values: dict[str, str],
        duration_s: float,
        watcher: Watcher,
        environment: dict[str, str],
        on_tick: Callable[[DemoState], None],
        system: SystemDescription = DEMO,
        course: tuple[float, float, float] | None = None,
    ) -> None:
        """`system`: another one with the demo's processes; `course`: take-off, landing [s] and altitude [m] for it."""
        plan = FlightPlan.for_duration(duration_s)
        self._commands = {process.label: command(process) for process in resolve(system, {**values, **OWN})}
        self._commands[VEHICLE] += ["--json"]
        listen = f"127.0.0.1:{values['ground_port']}"
        self._commands[GROUND] = [
            *(sys.executable, "-m", "pqc_mav_cli.demo.ground", listen),
            *map(str, course or (plan.take_off_s, plan.land_s, plan.altitude_m)),
        ]
        self._ports = (int(values["data_port"]), int(values["drone_data_port"]))
        self._watcher = watcher
        self._environment = {"PYTHONUNBUFFERED": "1", **environment}
        self._on_tick = on_tick
        self._capture: Any = None
        self._capture_note = ""
        self._children: dict[str, Child] = {}
        self.state = DemoState(duration_s=duration_s)
        self.result = DemoResult(
            duration_s=duration_s, planned_altitude_m=plan.altitude_m if plan.time_to_climb else None
        )

    async def run(self) -> DemoResult:
        """Runs it all. Always returns with every process ended; a failure is in the result's `error`."""
        ticking = asyncio.create_task(self._tick())
        # Before the proxies: so it sees their every datagram.
        self._capture, self._capture_note = _open_capture(self._ports)
        try:
            await self._tunnel_up()
            await self._fly()
            await self._take_reports(self.result)
            await self._take_counters()
        except CliError as error:
            self.result.error = str(error)
        finally:
            self.state.phase = "shutting down"
            await self._end()
            if self._capture is not None:
                await asyncio.to_thread(self._capture.stop)
            ticking.cancel()
        return self.result

    # --- the phases ---

    async def _tunnel_up(self) -> None:
        # One after the other: the handshake is timed, and starting Python would compete with it for the processor.
        self._start(GCS_PROXY)
        await self._until(lambda: self.state.view(GCS_PROXY), UP_LIMIT_S, "The gcs proxy did not start")
        self._start(DRONE_PROXY)
        self.state.phase = "handshake"
        await self._until(self._both_up, UP_LIMIT_S, "The tunnel did not come up within {limit:g} s")
        # The drone's report of the handshake may be a moment behind its state.
        await self._until(
            lambda: self.state.handshake is not None, COUNTERS_LIMIT_S, "No report of the handshake arrived"
        )
        self.result.handshake = self.state.handshake

    async def _fly(self) -> None:
        self._start(GROUND)
        await self._until(lambda: self.state.ground, UP_LIMIT_S, "The ground client did not start")
        self._start(VEHICLE)
        # The clock starts with the vehicle's first words, however long it takes to start on this machine.
        await self._until(self._vehicle_heard, UP_LIMIT_S, "The ground client heard nothing from the vehicle")
        self.state.flight_began_s = time.monotonic()
        self.state.phase = "flying"
        await self._sleep(self.state.duration_s)

    async def _take_reports(self, result: FlightResult) -> None:
        """Has both applications fall silent one after the other and takes what each has counted."""
        state = self.state
        state.phase = "counting"
        self._signal(GROUND, signal.SIGUSR1)
        await self._settled("sent")
        await self._stop(VEHICLE)
        await self._settled("received")
        await self._stop(GROUND)
        if not state.vehicle_summary or not state.ground_summary:
            raise CliError("The vehicle or the ground client ended without a report")
        result.take_reports(state.vehicle_summary, state.ground_summary, state.steps)

    async def _take_counters(self) -> None:
        state, result = self.state, self.result
        counted_s = time.time()
        readings: dict[str, list[Reading]] = {DRONE_PROXY: [], GCS_PROXY: []}

        def fresh() -> bool:
            for label, taken in readings.items():
                view = state.view(label)
                if view is not None and view.stats is not None and view.stats_read_s[0] > counted_s:
                    reading = Reading(*view.stats_read_s, view.stats)
                    if reading not in taken:
                        taken.append(reading)
            return all(len(taken) >= READINGS for taken in readings.values())

        await self._until(fresh, COUNTERS_LIMIT_S, "The proxies' counters did not arrive")
        drone = state.view(DRONE_PROXY)
        local = None if drone is None else drone.links.get("local")
        rtt_ms = None if local is None else local.rtt_ms
        seen = None
        if self._capture is not None:
            report = await asyncio.to_thread(self._capture.stop)
            # Both proxies count what they sent; the wire must have shown every byte of it.
            ports = zip((GCS_PROXY, DRONE_PROXY), self._ports, strict=True)
            missing = sum(demo_result.unseen(readings[label], report, port) for label, port in ports)
            seen = {**report.to_dict(), "unseen_bytes": missing}
        drone_stats, gcs_stats = (readings[label][-1].stats for label in (DRONE_PROXY, GCS_PROXY))
        result.wire = demo_result.wire(drone_stats, gcs_stats, rtt_ms, seen, self._capture_note)

    async def _end(self) -> None:
        # The drone before the gcs: it would otherwise look for its gcs at once.
        for label in reversed(list(self._children)):
            await self._stop(label)
        # A demo that was interrupted before anything ran has nothing to complain about.
        self.state.views = self._watcher.views()

    # --- tools ---

    def _vehicle_heard(self) -> bool:
        return bool(self.state.ground) and self.state.ground["vehicle"]["heartbeats"] > 0

    async def _settled(self, count: str) -> None:
        """Waits until a count of the ground client has stood still for DRAIN_S; on a busy machine that may take."""
        deadline = time.monotonic() + DRAIN_LIMIT_S
        value, since = -1, time.monotonic()
        while time.monotonic() - since < DRAIN_S and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
            if self.state.ground[count] != value:
                value, since = self.state.ground[count], time.monotonic()

    def _both_up(self) -> bool:
        return all(
            view is not None and state_of(view) == "UP"
            for view in (self.state.view(GCS_PROXY), self.state.view(DRONE_PROXY))
        )

    def _start(self, label: str) -> None:
        self._children[label] = Child(
            label, self._commands[label], lambda line: self._on_line(label, line), self._environment
        )

    async def _stop(self, label: str) -> None:
        child = self._children.pop(label, None)
        if child is not None:
            self.result.exit_codes[label] = await child.stop()

    def _signal(self, label: str, number: signal.Signals) -> None:
        self._children[label].send(number)

    async def _until(self, condition: Callable[[], Any], limit_s: float, complaint: str) -> None:
        """Waits for a condition while every process lives."""
        deadline = time.monotonic() + limit_s
        while not condition():
            self._check_children()
            if time.monotonic() > deadline:
                raise CliError(complaint.format(limit=limit_s) + self._why())
            await asyncio.sleep(0.02)
            self._look()

    async def _sleep(self, seconds: float) -> None:
        """Waits while every process lives."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._check_children()
            await asyncio.sleep(min(left, 0.1))

    def _check_children(self) -> None:
        for label, child in self._children.items():
            if not child.running():
                raise CliError(f"{label} ended unexpectedly{self._why(label)}")

    def _why(self, label: str = "") -> str:
        """The last words of a process, or the last error a proxy reported."""
        said = [line for source, line in self.state.lines if source == label or (not label and "rror" in line)]
        errors = [view.status.last_error for view in self.state.views if view.status.last_error]
        words = (said[-1:] or errors[-1:]) if label else (errors[-1:] or said[-1:])
        return f": {words[0]}" if words else "."

    def _on_line(self, label: str, line: str) -> None:
        if label in (GROUND, VEHICLE) and line.startswith("{"):
            message = json.loads(line)
            kind = message.get("kind", "vehicle")
            if kind == "snapshot":
                self.state.ground = message["values"]
            elif kind == "summary":
                self.state.ground_summary = message["values"]
            elif kind == "step":
                self.state.steps[message["name"]] = message["ok"]
            else:
                self.state.vehicle_summary = message
            return
        self.state.lines.append((label, line))

    def _look(self) -> None:
        self.state.views = self._watcher.views()
        if self.state.handshake is None:
            good = {node: report for node, report in reversed(self._watcher.handshakes()) if report.ok}
            if {f"/{DRONE_PROXY}", f"/{GCS_PROXY}"} <= set(good):
                self.state.handshake = demo_result.handshake(good[f"/{DRONE_PROXY}"], good[f"/{GCS_PROXY}"])

    async def _tick(self) -> None:
        while True:
            self._look()
            self._on_tick(self.state)
            await asyncio.sleep(TICK_S)


def _open_capture(ports: tuple[int, ...]) -> tuple[Any, str]:
    """A capture of the encrypted ports, or why there is none."""
    from pqc_mav_sim.capture import CaptureNotPermittedError, LoopbackCapture

    try:
        return LoopbackCapture(ports), ""
    except CaptureNotPermittedError:
        return None, "not checked: that needs root or CAP_NET_RAW ('sudo tools/run pqcmav demo')"
