# SPDX-License-Identifier: Apache-2.0
"""An autopilot and a flight in virtual time: what tests drive without a socket and without waiting."""

from __future__ import annotations

from collections.abc import Callable

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_common.geodesy import LocalFrame
from pqc_mav_sim.airframe import SEA_LEVEL_DENSITY
from pqc_mav_sim.autopilot import Autopilot, AutopilotConfig
from pqc_mav_sim.battery import BatteryLevel
from pqc_mav_sim.endpoint import resolve
from pqc_mav_sim.flight import Flight
from pqc_mav_sim.flight_config import FlightConfig
from pqc_mav_sim.frames import Frame, parse_datagram

GCS_SYSTEM, GCS_COMPONENT = 255, 190
DT = 0.02
ANY_PORT = resolve("127.0.0.1:0", passive=True)


class Bench:
    """One autopilot: `send` hands it a client's message, `run` lets virtual time pass; both return the answers."""

    def __init__(self, **config: object) -> None:
        self.t = 1000.0
        self.pilot = Autopilot(AutopilotConfig(**{"profile": "client", **config}), self.t)
        self.client = mavlink.MAVLink(None, srcSystem=GCS_SYSTEM, srcComponent=GCS_COMPONENT)
        self.log: list[mavlink.MAVLink_message] = []

    @property
    def flight(self) -> Flight:
        return self.pilot.plant.flight

    def frame(self, message: mavlink.MAVLink_message) -> Frame:
        raw = message.pack(self.client)
        self.client.seq = (self.client.seq + 1) % 256
        (frame,) = parse_datagram(raw).frames
        return frame

    def run(self, seconds: float = 0.0) -> list[mavlink.MAVLink_message]:
        out: list[mavlink.MAVLink_message] = []
        end = self.t + seconds
        while True:
            out += self.pilot.tick(self.t)
            if self.t >= end:
                break
            self.t = min(self.t + DT, end)
        self.log += out
        return out

    def run_until(self, condition: Callable[[], object], limit: float = 120.0) -> list[mavlink.MAVLink_message]:
        out: list[mavlink.MAVLink_message] = []
        end = self.t + limit
        while not condition():
            assert self.t < end, f"not reached within {limit} s of virtual time"
            out += self.run(DT)
        return out

    def send(self, message: mavlink.MAVLink_message) -> list[mavlink.MAVLink_message]:
        self.pilot.receive(self.frame(message), self.t)
        return self.run()

    def command(self, command: int, *params: float) -> tuple[int, list[mavlink.MAVLink_message]]:
        """Send COMMAND_LONG; return the result in its acknowledgement and everything else that came back."""
        values = (*params, *([0.0] * 7))[:7]
        answers = self.send(mavlink.MAVLink_command_long_message(1, 1, command, 0, *values))
        acks = [m for m in answers if m.get_type() == "COMMAND_ACK"]
        assert [a.command for a in acks] == [command]
        assert (acks[0].target_system, acks[0].target_component) == (GCS_SYSTEM, GCS_COMPONENT)
        return acks[0].result, [m for m in answers if m.get_type() != "COMMAND_ACK"]

    def texts(self) -> list[str]:
        return [m.text for m in self.log if m.get_type() == "STATUSTEXT"]


class Stepper:
    """A flight in still air, stepped by hand."""

    def __init__(self, config: FlightConfig | None = None) -> None:
        self.flight = Flight(LocalFrame(47.0, 8.0, 400.0), config or FlightConfig())
        self.level = BatteryLevel.OK
        self.link_lost = False
        self.t = 0.0

    def step(self) -> None:
        self.t += DT
        self.flight.step(self.t, DT, (0.0, 0.0), SEA_LEVEL_DENSITY, self.level, self.link_lost)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / DT)):
            self.step()

    def run_until(self, condition: Callable[[], object], limit: float = 200.0) -> float:
        start = self.t
        while not condition():
            assert self.t - start < limit, f"not reached within {limit} s"
            self.step()
        return self.t - start

    def fly(self, altitude: float = 20.0) -> Flight:
        """Arm and take off."""
        self.run(2.0)
        assert self.flight.arm().ok
        assert self.flight.takeoff(altitude).ok
        self.run_until(lambda: self.flight.airframe.motion.altitude > altitude - 0.3)
        return self.flight
