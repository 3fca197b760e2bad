# SPDX-License-Identifier: Apache-2.0
"""Mission items: what is accepted, and how a flying vehicle works through them. No MAVLink, no clock."""

import math
from dataclasses import dataclass, field
from enum import IntEnum

from pqc_mav_common.geodesy import LocalFrame
from pqc_mav_sim.guidance import Target

MAX_ITEMS = 200


class NavCommand(IntEnum):
    """The mission commands this vehicle flies; numbers are MAV_CMD."""

    WAYPOINT = 16
    LOITER_UNLIMITED = 17
    LOITER_TIME = 19
    RETURN = 20
    LAND = 21
    TAKEOFF = 22
    DELAY = 93
    CHANGE_SPEED = 178


POSITIONAL = frozenset(
    {NavCommand.WAYPOINT, NavCommand.LOITER_UNLIMITED, NavCommand.LOITER_TIME, NavCommand.LAND, NavCommand.TAKEOFF}
)


class ItemError(IntEnum):
    """Why an item is refused; numbers are MAV_MISSION_RESULT."""

    UNSUPPORTED_FRAME = 2
    UNSUPPORTED = 3
    INVALID_X = 10
    INVALID_Y = 11
    INVALID_ALTITUDE = 12


ALTITUDE_AMSL_FRAMES = frozenset({0, 5})
ALTITUDE_RELATIVE_FRAMES = frozenset({3, 6})


@dataclass(frozen=True)
class MissionItem:
    """One item as uploaded: params as in MAV_CMD, latitude and longitude in degrees, altitude in m of its frame."""

    seq: int
    frame: int
    command: int
    params: tuple[float, float, float, float]
    lat_deg: float
    lon_deg: float
    altitude: float
    autocontinue: bool = True

    def check(self) -> ItemError | None:
        """Return why the item cannot be flown, None when it can."""
        if self.command not in NavCommand.__members__.values():
            return ItemError.UNSUPPORTED
        if self.command not in POSITIONAL:
            return None
        if self.frame not in ALTITUDE_AMSL_FRAMES | ALTITUDE_RELATIVE_FRAMES:
            return ItemError.UNSUPPORTED_FRAME
        if not -90.0 <= self.lat_deg <= 90.0:
            return ItemError.INVALID_X
        if not -180.0 <= self.lon_deg <= 180.0:
            return ItemError.INVALID_Y
        if not (math.isfinite(self.altitude) and -1000.0 <= self.altitude <= 10000.0):
            return ItemError.INVALID_ALTITUDE
        return None

    def has_position(self) -> bool:
        """Whether the item names a place; a zero pair means "where the vehicle is" by MAVLink's convention."""
        return self.command in POSITIONAL and (self.lat_deg, self.lon_deg) != (0.0, 0.0)


@dataclass
class MissionPlan:
    """An ordered list of items and how far the vehicle is in it."""

    items: list[MissionItem] = field(default_factory=list)
    current: int = 0
    speed: float | None = None
    _arrived_at: float | None = None

    def restart(self) -> None:
        """Go back to the first item and the default speed."""
        self.jump(0)
        self.speed = None

    def jump(self, seq: int) -> None:
        """Continue with item seq; raises IndexError when there is none."""
        if not 0 <= seq < max(len(self.items), 1):
            raise IndexError(f"mission item {seq} does not exist, the mission has {len(self.items)}")
        self.current = seq
        self._arrived_at = None

    @property
    def item(self) -> MissionItem | None:
        """The item being flown, None past the end."""
        return self.items[self.current] if self.current < len(self.items) else None

    @property
    def finished(self) -> bool:
        """Whether every item was completed."""
        return self.current >= len(self.items)

    def target(self, frame: LocalFrame, here: Target) -> Target:
        """Return where the current item leads; items without a place keep `here`."""
        item = self.item
        if item is None or item.command not in POSITIONAL:
            return here
        north, east = frame.to_local(item.lat_deg, item.lon_deg) if item.has_position() else (here.north, here.east)
        altitude = item.altitude - frame.alt_m if item.frame in ALTITUDE_AMSL_FRAMES else item.altitude
        return Target(north, east, altitude, here.yaw)

    def advance(self, t: float, distance: float, height_error: float, acceptance: float) -> int | None:
        """Move on when the current item is done at time t.

        Args:
            distance, height_error: metres to the item's target.
            acceptance: radius (m) in which a waypoint counts as reached.

        Returns:
            The seq of the item that was completed now, None when it still goes on.
        """
        item = self.item
        if item is None:
            return None
        if item.command == NavCommand.CHANGE_SPEED:
            if item.params[1] > 0.0:
                self.speed = item.params[1]
            return self._complete()
        if item.command in (NavCommand.LOITER_UNLIMITED, NavCommand.LAND, NavCommand.RETURN):
            return None
        if item.command == NavCommand.DELAY:
            distance = height_error = 0.0
        if self._arrived_at is None and distance <= acceptance and abs(height_error) <= max(1.0, 0.5 * acceptance):
            self._arrived_at = t
        hold = item.params[0] if item.command != NavCommand.TAKEOFF else 0.0
        if self._arrived_at is None or t - self._arrived_at < hold:
            return None
        return self._complete()

    def _complete(self) -> int:
        done = self.current
        self.current += 1
        self._arrived_at = None
        return done
