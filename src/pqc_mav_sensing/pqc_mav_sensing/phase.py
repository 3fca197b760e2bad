# SPDX-License-Identifier: Apache-2.0
"""Mission phase out of what the autopilot reports: disarmed, take-off, cruise, hover, landing. Pure.

A phase is left only when its successor has held for `dwell_s`, and speeds have an upper threshold to enter and a lower
one to leave, so that gusts and noise do not make it flicker. Disarming and the start of a take-off count at once.

Not every autopilot says all of it: without a landed state, height and speeds have to tell, and the flight mode whether
it lands. What they cannot tell is UNKNOWN: a vehicle whose speed is not known does not hover. One that moves for longer
than any run before a take-off, and stays on the ground or the water, cruises there.
"""

import math
from dataclasses import dataclass
from enum import IntEnum

NAN = math.nan


class Phase(IntEnum):
    """Values of VehicleState.msg."""

    UNKNOWN = 0
    DISARMED = 1
    TAKEOFF = 2
    CRUISE = 3
    HOVER = 4
    LANDING = 5


class Landed(IntEnum):
    """MAV_LANDED_STATE of MAVLink's common dialect."""

    UNDEFINED = 0
    ON_GROUND = 1
    IN_AIR = 2
    TAKEOFF = 3
    LANDING = 4


@dataclass(frozen=True)
class PhaseLimits:
    """Thresholds; m, m/s and s."""

    dwell_s: float = 1.0
    cruise_enter_m_s: float = 2.0
    cruise_leave_m_s: float = 1.0
    climb_m_s: float = 0.5
    sink_m_s: float = 0.3
    descent_m_s: float = 1.0  # faster than this straight down is no hover, however high
    landing_below_m: float = 10.0
    airborne_above_m: float = 0.7
    touchdown_below_m: float = 3.0  # the ground may be that much higher than where it took off
    drive_m_s: float = 0.5
    drive_s: float = 30.0  # longer than a run before a take-off


@dataclass(frozen=True)
class Motion:
    """What is known about the vehicle's motion; NaN = unknown. Climb is positive upwards."""

    armed: bool
    relative_altitude_m: float = NAN
    ground_speed_m_s: float = NAN
    climb_rate_m_s: float = NAN
    landed: Landed = Landed.UNDEFINED
    landing_mode: bool = False  # the autopilot was told to land


class PhaseEstimator:
    """Follows one vehicle. Times are seconds of a monotonic clock."""

    def __init__(self, limits: PhaseLimits | None = None) -> None:
        self._limits = limits or PhaseLimits()
        self.phase = Phase.UNKNOWN
        self._flown = False  # airborne since it was armed
        self._driven = False  # a rover or boat: moved for long since it was armed, without flying
        self._still_s: float | None = None  # when it last did not move
        self._candidate = Phase.UNKNOWN
        self._since_s = 0.0

    def lost(self) -> Phase:
        """No fresh heartbeat: nothing is known."""
        self.phase = self._candidate = Phase.UNKNOWN
        return self.phase

    def update(self, now_s: float, motion: Motion) -> Phase:
        """The phase after this reading of the vehicle's motion."""
        self._drive(now_s, motion)
        wanted = self._wanted(motion)
        if wanted is not self._candidate:
            self._candidate, self._since_s = wanted, now_s
        at_once = wanted is Phase.DISARMED or self.phase in (Phase.UNKNOWN, Phase.DISARMED)
        if at_once or now_s - self._since_s >= self._limits.dwell_s:
            self.phase = wanted
        return self.phase

    def _wanted(self, motion: Motion) -> Phase:
        if not motion.armed:
            self._flown = False
            return Phase.DISARMED
        if motion.landed is Landed.TAKEOFF:
            self._flown = True
            return Phase.TAKEOFF
        if motion.landed is Landed.LANDING:
            return Phase.LANDING
        airborne = self._airborne(motion)
        moving = self._moving(motion)
        if airborne is None:
            return self._without_height(motion, moving)
        if not airborne:
            if not self._flown:
                return self._along(moving) if self._driven else Phase.TAKEOFF
            # Lower than where it started, and fast: it flies where the ground is lower.
            return Phase.CRUISE if moving and motion.landed is Landed.UNDEFINED else Phase.LANDING
        leaving = self.phase in (Phase.DISARMED, Phase.TAKEOFF)
        first_climb = leaving or self._candidate is Phase.TAKEOFF or not self._flown
        self._flown = True
        if motion.landing_mode:
            return Phase.LANDING
        if first_climb and motion.climb_rate_m_s >= self._limits.climb_m_s:
            return Phase.TAKEOFF
        if self._descends(motion):
            # An autopilot that tells of landings calls it one when it is: a mission may lead straight down, too.
            told = motion.landed is Landed.IN_AIR and not motion.relative_altitude_m < self._limits.landing_below_m
            return Phase.CRUISE if told else Phase.LANDING
        if leaving and not moving and math.isnan(motion.climb_rate_m_s) and not math.isnan(motion.relative_altitude_m):
            return Phase.TAKEOFF  # just off the ground: a few heights more will tell how fast
        if self._may_have_landed(motion) and not moving:
            return Phase.LANDING
        return self._along(moving)

    def _drive(self, now_s: float, motion: Motion) -> None:
        if self._still_s is None or not motion.armed or not motion.ground_speed_m_s >= self._limits.drive_m_s:
            self._still_s = now_s
        self._driven = motion.armed and (self._driven or now_s - self._still_s > self._limits.drive_s)

    @staticmethod
    def _along(moving: bool | None) -> Phase:
        if moving is None:
            return Phase.UNKNOWN
        return Phase.CRUISE if moving else Phase.HOVER

    def _without_height(self, motion: Motion, moving: bool | None) -> Phase:
        """It may be on the ground or in the air: only what both exclude is known."""
        if motion.landing_mode and self._flown:
            return Phase.LANDING
        if moving:
            self._flown = True
            return Phase.CRUISE
        return Phase.UNKNOWN

    def _airborne(self, motion: Motion) -> bool | None:
        if motion.landed is Landed.UNDEFINED:
            height_m = motion.relative_altitude_m
            return None if math.isnan(height_m) else height_m > self._limits.airborne_above_m
        return motion.landed is not Landed.ON_GROUND

    def _moving(self, motion: Motion) -> bool | None:
        """Faster than a hover; None = it may be, for a speed is not known."""
        limits = self._limits
        fast_m_s = limits.cruise_leave_m_s if self.phase is Phase.CRUISE else limits.cruise_enter_m_s
        if motion.ground_speed_m_s >= fast_m_s or abs(motion.climb_rate_m_s) >= limits.cruise_enter_m_s:
            return True
        return None if math.isnan(motion.ground_speed_m_s) or math.isnan(motion.climb_rate_m_s) else False

    def _may_have_landed(self, motion: Motion) -> bool:
        """It came down to land, nothing says that it is in the air, and it has not climbed since."""
        return (
            self.phase is Phase.LANDING
            and motion.landed is Landed.UNDEFINED
            and motion.relative_altitude_m < self._limits.touchdown_below_m
            and not motion.climb_rate_m_s >= self._limits.climb_m_s
        )

    def _descends(self, motion: Motion) -> bool:
        """Straight down: any sinking near the ground, or once begun, and higher up what is too fast for a hover."""
        limits = self._limits
        slowly = motion.relative_altitude_m < limits.landing_below_m or self.phase is Phase.LANDING
        sink_m_s = limits.sink_m_s if slowly else limits.descent_m_s
        return motion.climb_rate_m_s <= -sink_m_s and not motion.ground_speed_m_s >= limits.cruise_enter_m_s
