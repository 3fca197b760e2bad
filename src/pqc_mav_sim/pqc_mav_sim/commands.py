# SPDX-License-Identifier: Apache-2.0
"""Answers to MAVLink commands: COMMAND_LONG and COMMAND_INT in one form, one handler per command. No sockets, no clock.

Every command gets exactly one result; a refusal carries a sentence for the pilot. Parameters come from the network
and may be NaN or infinite, so none is used before it was checked. Microservice: https://mavlink.io/en/services/command.html.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.flight import Flight
from pqc_mav_sim.mav_types import Message
from pqc_mav_sim.mission_plan import ALTITUDE_RELATIVE_FRAMES
from pqc_mav_sim.modes import ACCEPTED, FlightMode, Outcome, Result, mode_from_custom, mode_from_px4
from pqc_mav_sim.rates import StreamScheduler
from pqc_mav_sim.telemetry import Telemetry

FORCE_MAGIC = 21196
_INT32_MAX = 2**31 - 1
_NAN = float("nan")
_FLIGHT_COMMANDS = frozenset(
    {
        mavlink.MAV_CMD_COMPONENT_ARM_DISARM,
        mavlink.MAV_CMD_NAV_TAKEOFF,
        mavlink.MAV_CMD_NAV_LAND,
        mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH,
        mavlink.MAV_CMD_NAV_LOITER_UNLIM,
        mavlink.MAV_CMD_DO_SET_MODE,
        mavlink.MAV_CMD_DO_REPOSITION,
        mavlink.MAV_CMD_DO_PAUSE_CONTINUE,
        mavlink.MAV_CMD_DO_FLIGHTTERMINATION,
        mavlink.MAV_CMD_MISSION_START,
    }
)


@dataclass(frozen=True)
class Command:
    """A command with its seven parameters; the fifth and sixth in degrees when they are a position, NaN when absent."""

    id: int
    p: tuple[float, float, float, float, float, float, float]
    relative_altitude: bool = False

    @classmethod
    def from_long(cls, msg: Message) -> Command:
        """Return the command in a COMMAND_LONG."""
        return cls(msg.command, tuple(getattr(msg, f"param{i}") for i in range(1, 8)))

    @classmethod
    def from_int(cls, msg: Message) -> Command:
        """Return the command in a COMMAND_INT, its position as degrees."""
        x, y = (_NAN if v == _INT32_MAX else v / 1e7 for v in (msg.x, msg.y))
        params = (msg.param1, msg.param2, msg.param3, msg.param4, x, y, msg.z)
        return cls(msg.command, params, msg.frame in ALTITUDE_RELATIVE_FRAMES)

    def integer(self, i: int) -> int | None:
        """Return parameter i (1..7) as an integer, None when it is none (NaN, infinite, beyond 32 bits)."""
        value = self.p[i - 1]
        return round(value) if math.isfinite(value) and abs(value) <= 2**32 else None

    def position(self) -> tuple[float, float] | None:
        """Return (latitude, longitude) in degrees, None when the command names no valid place."""
        lat, lon = self.p[4], self.p[5]
        if not (-90.0 <= lat <= 90.0 and -180.0 <= lon <= 180.0) or (lat, lon) == (0.0, 0.0):
            return None
        return lat, lon


@dataclass(frozen=True)
class Answer:
    """The result and messages to send after the acknowledgement."""

    outcome: Outcome
    messages: list[Message] = field(default_factory=list)


class CommandHandler:
    """Carries commands out on a flight; what is not in the table is UNSUPPORTED."""

    def __init__(
        self, flight: Flight, scheduler: StreamScheduler, telemetry: Telemetry, version: Callable[[], Message]
    ) -> None:
        self.flight = flight
        self.scheduler = scheduler
        self.telemetry = telemetry
        self._version = version
        self._table: dict[int, Callable[[Command, float], Answer | Outcome]] = {
            mavlink.MAV_CMD_COMPONENT_ARM_DISARM: self._arm_disarm,
            mavlink.MAV_CMD_NAV_TAKEOFF: self._takeoff,
            mavlink.MAV_CMD_NAV_LAND: lambda _c, _t: self.flight.land(),
            mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH: lambda _c, _t: self.flight.return_home(),
            mavlink.MAV_CMD_NAV_LOITER_UNLIM: lambda _c, _t: self.flight.hold(),
            mavlink.MAV_CMD_DO_SET_MODE: self._set_mode,
            mavlink.MAV_CMD_DO_REPOSITION: self._reposition,
            mavlink.MAV_CMD_DO_SET_HOME: self._set_home,
            mavlink.MAV_CMD_DO_CHANGE_SPEED: self._change_speed,
            mavlink.MAV_CMD_DO_PAUSE_CONTINUE: self._pause_continue,
            mavlink.MAV_CMD_DO_FLIGHTTERMINATION: self._terminate,
            mavlink.MAV_CMD_MISSION_START: lambda _c, _t: self.flight.start_mission(),
            mavlink.MAV_CMD_DO_SET_MISSION_CURRENT: self._set_mission_current,
            mavlink.MAV_CMD_SET_MESSAGE_INTERVAL: self._set_interval,
            mavlink.MAV_CMD_GET_MESSAGE_INTERVAL: self._get_interval,
            mavlink.MAV_CMD_REQUEST_MESSAGE: self._request_message,
            mavlink.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES: self._request_capabilities,
            mavlink.MAV_CMD_GET_HOME_POSITION: self._get_home,
            mavlink.MAV_CMD_RUN_PREARM_CHECKS: self._prearm_checks,
            mavlink.MAV_CMD_PREFLIGHT_REBOOT_SHUTDOWN: self._reboot,
        }

    @staticmethod
    def flies(command_id: int) -> bool:
        """Whether a command takes the vehicle's flight into the client's hands."""
        return command_id in _FLIGHT_COMMANDS

    def handle(self, command: Command, t: float) -> Answer:
        """Carry a command out at time t (s) and return what to answer."""
        handler = self._table.get(command.id)
        if handler is None:
            return Answer(Outcome(Result.UNSUPPORTED))
        answer = handler(command, t)
        return answer if isinstance(answer, Answer) else Answer(answer)

    def _arm_disarm(self, command: Command, _t: float) -> Outcome:
        force = command.integer(2) == FORCE_MAGIC
        if command.integer(1) == 1:
            return self.flight.arm(force=force)
        if command.integer(1) == 0:
            return self.flight.disarm(force=force)
        return Outcome(Result.DENIED, "Arming denied: parameter 1 must be 0 or 1")

    def _takeoff(self, command: Command, _t: float) -> Outcome:
        altitude = self._relative_altitude(command)
        # PX4 takes a height at or below the vehicle for "the default", which is how clients that think in metres
        # above ground ask for a take-off
        if altitude is not None and altitude <= self.flight.airframe.motion.altitude + 0.5:
            altitude = None
        return self.flight.takeoff(altitude)

    def _relative_altitude(self, command: Command) -> float | None:
        """Return parameter 7 as metres above the start, None when it is not a number."""
        altitude = command.p[6]
        if not math.isfinite(altitude):
            return None
        return altitude if command.relative_altitude else altitude - self.flight.frame.alt_m

    def _set_mode(self, command: Command, _t: float) -> Outcome:
        main, sub = command.integer(2), command.integer(3)
        if main is None:
            return Outcome(Result.DENIED, "Mode change denied: no mode given")
        mode = mode_from_px4(main, 0 if sub is None else sub)
        if mode is None and main > 0xFF:
            # some clients put the whole custom_mode into one parameter
            mode = mode_from_custom(main)
        if mode is None:
            return Outcome(Result.UNSUPPORTED, "Mode change denied: mode not available")
        return self.flight.set_mode(mode)

    def _reposition(self, command: Command, _t: float) -> Outcome:
        place, m = command.position(), self.flight.airframe.motion
        north, east = (m.north, m.east) if place is None else self.flight.frame.to_local(*place)
        yaw = command.p[3] if math.isfinite(command.p[3]) and abs(command.p[3]) <= 2.0 * math.pi else None
        return self.flight.goto(north, east, self._relative_altitude(command), yaw)

    def _set_home(self, command: Command, _t: float) -> Outcome:
        m = self.flight.airframe.motion
        if command.integer(1) == 1:
            return self.flight.set_home(m.north, m.east, m.altitude)
        place, altitude = command.position(), self._relative_altitude(command)
        if place is None or altitude is None:
            return Outcome(Result.DENIED, "Set home denied: no valid position")
        return self.flight.set_home(*self.flight.frame.to_local(*place), altitude)

    def _change_speed(self, command: Command, _t: float) -> Outcome:
        speed = command.p[1]
        if not 0.5 <= speed <= 20.0:
            return Outcome(Result.DENIED, "Speed change denied: give 0.5 to 20 m/s")
        self.flight.mission.speed = speed
        return ACCEPTED

    def _pause_continue(self, command: Command, _t: float) -> Outcome:
        if command.integer(1) == 0:
            return self.flight.hold()
        if command.integer(1) == 1:
            return self.flight.set_mode(FlightMode.MISSION)
        return Outcome(Result.DENIED)

    def _terminate(self, command: Command, _t: float) -> Outcome:
        return self.flight.disarm(force=True) if command.p[0] > 0.5 else ACCEPTED

    def _set_mission_current(self, command: Command, _t: float) -> Outcome:
        seq = command.integer(1)
        try:
            self.flight.mission.jump(-1 if seq is None else seq)
        except IndexError:
            return Outcome(Result.DENIED, "Mission item does not exist")
        return ACCEPTED

    def _set_interval(self, command: Command, t: float) -> Outcome:
        msg_id, interval = command.integer(1), command.p[1]
        if msg_id is None or self.scheduler.interval_us(msg_id) == 0:
            return Outcome(Result.UNSUPPORTED)
        if not math.isfinite(interval) or not self.scheduler.set_interval(msg_id, interval, t):
            return Outcome(Result.DENIED)
        return ACCEPTED

    def _get_interval(self, command: Command, _t: float) -> Answer:
        msg_id = command.integer(1)
        if msg_id is None or not 0 <= msg_id <= 0xFFFF:
            return Answer(Outcome(Result.DENIED))
        interval = mavlink.MAVLink_message_interval_message(msg_id, self.scheduler.interval_us(msg_id))
        return Answer(ACCEPTED, [interval])

    def _request_message(self, command: Command, t: float) -> Answer:
        msg_id = command.integer(1)
        if msg_id == mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION:
            return Answer(ACCEPTED, [self._version()])
        if msg_id == mavlink.MAVLINK_MSG_ID_MESSAGE_INTERVAL:
            return self._get_interval(Command(command.id, (command.p[1], *command.p[1:])), t)
        if msg_id is None or not self.telemetry.can_build(msg_id):
            return Answer(Outcome(Result.UNSUPPORTED))
        return Answer(ACCEPTED, [self.telemetry.build(msg_id, t)])

    def _request_capabilities(self, command: Command, _t: float) -> Answer:
        return Answer(ACCEPTED, [self._version()] if command.integer(1) == 1 else [])

    def _get_home(self, _command: Command, t: float) -> Answer:
        return Answer(ACCEPTED, [self.telemetry.build(mavlink.MAVLINK_MSG_ID_HOME_POSITION, t)])

    def _prearm_checks(self, _command: Command, _t: float) -> Outcome:
        if self.flight.armed:
            return Outcome(Result.TEMPORARILY_REJECTED)
        return ACCEPTED if self.flight.ready else Outcome(Result.FAILED, "Preflight: position estimate not ready")

    def _reboot(self, _command: Command, _t: float) -> Outcome:
        return Outcome(Result.DENIED, "Reboot denied: restart the simulation instead")
