# SPDX-License-Identifier: Apache-2.0
"""Flight modes in PX4's numbering and the results a command can have.

PX4 packs the main mode into bits 16-23 of HEARTBEAT.custom_mode and the sub mode into bits 24-31
(px4_custom_mode.h). Only modes this vehicle really flies are listed; everything else is refused.
"""

from dataclasses import dataclass
from enum import Enum, IntEnum


class FlightMode(Enum):
    """Modes by name; the value is (main mode, sub mode)."""

    POSCTL = (3, 0)
    TAKEOFF = (4, 2)
    HOLD = (4, 3)
    MISSION = (4, 4)
    RTL = (4, 5)
    LAND = (4, 6)

    @property
    def custom_mode(self) -> int:
        """The HEARTBEAT.custom_mode value (uint32)."""
        main, sub = self.value
        return main << 16 | sub << 24

    @property
    def is_auto(self) -> bool:
        """Whether the vehicle flies on its own, without sticks."""
        return self is not FlightMode.POSCTL


def mode_from_px4(main: int, sub: int) -> FlightMode | None:
    """Return the mode of PX4's (main, sub) pair, None when this vehicle does not fly it."""
    return next((mode for mode in FlightMode if mode.value == (main, sub)), None)


def mode_from_custom(custom_mode: int) -> FlightMode | None:
    """Return the mode of a HEARTBEAT.custom_mode, None when it is not one of ours."""
    return mode_from_px4(custom_mode >> 16 & 0xFF, custom_mode >> 24 & 0xFF)


class Result(IntEnum):
    """Outcome of a command; the numbers are MAVLink's MAV_RESULT."""

    ACCEPTED = 0
    TEMPORARILY_REJECTED = 1
    DENIED = 2
    UNSUPPORTED = 3
    FAILED = 4


class Landed(IntEnum):
    """Landed state; the numbers are MAVLink's MAV_LANDED_STATE."""

    ON_GROUND = 1
    IN_AIR = 2
    TAKEOFF = 3
    LANDING = 4


class Severity(IntEnum):
    """Syslog severities as MAVLink's STATUSTEXT uses them."""

    EMERGENCY = 0
    ALERT = 1
    CRITICAL = 2
    ERROR = 3
    WARNING = 4
    NOTICE = 5
    INFO = 6


@dataclass(frozen=True)
class Outcome:
    """Result of a command with the sentence that explains a refusal (empty when accepted)."""

    result: Result
    text: str = ""

    @property
    def ok(self) -> bool:
        """Whether the command was accepted."""
        return self.result is Result.ACCEPTED


ACCEPTED = Outcome(Result.ACCEPTED)


@dataclass(frozen=True)
class Event:
    """Something the pilot should read; sent as STATUSTEXT."""

    severity: Severity
    text: str
