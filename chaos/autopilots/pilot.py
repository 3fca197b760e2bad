# SPDX-License-Identifier: Apache-2.0
"""How each autopilot is armed, taken off, sent on a mission: ArduPilot and PX4 number their modes differently."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from autopilots.ground import AUTOPILOT, Ground, LateError, mavlink, waypoint

HEIGHT_M = 20.0
_READY_S, _CLIMB_S = 120.0, 60.0  # the filter has to settle; a busy machine
_STREAMS_HZ = 4
_FAILSAFE_S = 5
_CUSTOM = float(mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED)


@dataclass(frozen=True)
class Modes:
    """Parameters 2 and 3 of DO_SET_MODE, and HEARTBEAT.custom_mode."""

    takeoff: tuple[int, int]
    hold: tuple[int, int]
    mission: tuple[int, int]
    home: tuple[int, int]
    packed: bool  # as PX4 does

    def custom(self, mode: tuple[int, int]) -> int:
        """As a heartbeat tells it."""
        return mode[0] << 16 | mode[1] << 24 if self.packed else mode[0]

    def of(self, custom: int) -> tuple[int, int]:
        """The other way round."""
        return (custom >> 16 & 0xFF, custom >> 24) if self.packed else (custom, 0)


_ARDUPILOT = Modes(takeoff=(4, 0), hold=(5, 0), mission=(3, 0), home=(6, 0), packed=False)  # GUIDED, LOITER, AUTO, RTL
_PX4 = Modes(takeoff=(4, 2), hold=(4, 3), mission=(4, 4), home=(4, 5), packed=True)


class Pilot:
    """Flies with what a ground station has."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.is_ardupilot = ground.newest["HEARTBEAT"].autopilot == mavlink.MAV_AUTOPILOT_ARDUPILOTMEGA
        self.modes = _ARDUPILOT if self.is_ardupilot else _PX4
        self.tripped_s: list[float] = []  # when hold_on saw failsafes
        self._held: int | None = None
        self._tripped = False

    @property
    def mode(self) -> int:
        """HEARTBEAT.custom_mode."""
        return int(self.ground.newest["HEARTBEAT"].custom_mode)

    @property
    def armed(self) -> bool:
        """Whether the motors may turn."""
        return bool(self.ground.newest["HEARTBEAT"].base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED)

    @property
    def place(self) -> tuple[float, float] | None:
        """Latitude and longitude in degrees, once they are known."""
        place = self.ground.newest.get("GLOBAL_POSITION_INT")
        return (place.lat / 1e7, place.lon / 1e7) if place and place.lat else None

    @property
    def height_m(self) -> float:
        """Above home; 0 while nothing is known."""
        place = self.ground.newest.get("GLOBAL_POSITION_INT")
        return place.relative_alt / 1000.0 if place else 0.0

    def streams(self) -> None:
        """Ask for all streams, as ground stations do: ArduPilot sends little without, and acknowledges nothing."""

        def request() -> None:
            every = mavlink.MAV_DATA_STREAM_ALL
            self.ground.send(
                mavlink.MAVLink_request_data_stream_message(self.ground.system, AUTOPILOT, every, _STREAMS_HZ, 1)
            )

        if self.place is None:
            self.ground.ask(request, ("GLOBAL_POSITION_INT",), _READY_S)
        else:
            request()

    def insist(
        self, number: int, values: tuple[float, ...], done: Callable[[], bool], limit_s: float, what: str
    ) -> None:
        """Send a command until it has its effect: autopilots refuse while they are not ready. Raises LateError."""
        deadline = time.monotonic() + limit_s
        while not done():
            if time.monotonic() > deadline:
                said = "; ".join(list(self.ground.texts)[-4:]) or "nothing"
                raise LateError(f"{what} did not happen within {limit_s:g} s; the autopilot said: {said}")
            try:
                self.ground.command(number, *values, limit_s=5.0)
                self.ground.wait(done, 2.0, what)
            except LateError:
                continue

    def set_mode(self, mode: tuple[int, int], limit_s: float = _READY_S) -> None:
        """Until the heartbeat says so."""
        values = (_CUSTOM, float(mode[0]), float(mode[1]))
        wanted = self.modes.custom(mode)
        self.insist(mavlink.MAV_CMD_DO_SET_MODE, values, lambda: self.mode == wanted, limit_s, f"mode {wanted}")

    def hold_on(self) -> None:
        """Stay in the mode that was there first: count a failsafe that changed it, and change it back."""
        self._held = self.mode if self._held is None else self._held
        if self.mode == self._held:
            self._tripped = False
            return
        if not self._tripped:
            self.tripped_s.append(time.monotonic())
        self._tripped = True
        with suppress(LateError):
            self.set_mode(self.modes.of(self._held), limit_s=1.0)

    def arm(self) -> None:
        """Until it is armed."""
        self.insist(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, (1.0,), lambda: self.armed, _READY_S, "arming")

    def mind_the_ground(self) -> None:
        """Have it return 5 s after the last heartbeat of the ground: vehicles.py says so to ArduPilot.

        PX4 would do nothing by itself, and first hover for as long again.
        """
        if not self.is_ardupilot:
            self.ground.set_integer("NAV_DLL_ACT", 2)
            self.ground.set_integer("COM_DL_LOSS_T", _FAILSAFE_S)
            self.ground.set_parameter("COM_FAIL_ACT_T", 0)

    def take_off(self) -> None:
        """Up to where it hovers."""
        self.mind_the_ground()
        self.streams()
        if self.is_ardupilot:
            self.set_mode(self.modes.takeoff)
            self.arm()
            climb = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, HEIGHT_M)
            self.insist(mavlink.MAV_CMD_NAV_TAKEOFF, climb, lambda: self.height_m > 2.0, _CLIMB_S, "a climb")
            self.ground.wait(lambda: self.height_m > HEIGHT_M * 0.9, _CLIMB_S, "the height")
        else:
            self.arm()
            self.set_mode(self.modes.takeoff)
            self.ground.wait(lambda: self.height_m > 1.5, _CLIMB_S, "a climb")
            self.set_mode(self.modes.hold)

    def start_mission(self) -> None:
        """Fly what was uploaded, from the ground."""
        self.mind_the_ground()
        self.streams()
        if self.is_ardupilot:
            self.set_mode(self.modes.takeoff)
            self.arm()
            wanted = self.modes.custom(self.modes.mission)
            self.insist(mavlink.MAV_CMD_MISSION_START, (), lambda: self.mode == wanted, _CLIMB_S, "the mission's start")
        else:
            self.arm()
            self.set_mode(self.modes.mission)

    def square(self, side_m: float, hold_s: float = 0.0) -> list[Any]:
        """A mission: take off, around a square, and land. The first item is where ArduPilot keeps its home.

        It begins where the vehicle is, as PX4's simulator has another home from one version to the next.
        """
        self.streams()
        self.ground.wait(lambda: self.place is not None, _READY_S, "a position")
        system, up, home = self.ground.system, HEIGHT_M, self.place
        corners = ((side_m, 0.0), (side_m, side_m), (0.0, side_m))
        plan: list[tuple[float, float, float, dict[str, Any]]] = [
            *([(0.0, 0.0, 0.0, {})] if self.is_ardupilot else []),
            (0.0, 0.0, up, {"command": mavlink.MAV_CMD_NAV_TAKEOFF}),
            *((north, east, up, {"hold_s": hold_s}) for north, east in corners),
            (0.0, 0.0, up, {}),
            (0.0, 0.0, 0.0, {"command": mavlink.MAV_CMD_NAV_LAND}),
        ]
        return [waypoint(system, number, *place, home=home, **more) for number, (*place, more) in enumerate(plan)]
