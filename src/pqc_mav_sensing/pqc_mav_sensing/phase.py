# SPDX-License-Identifier: Apache-2.0
"""Mission phase out of what the autopilot reports: disarmed, take-off, cruise, hover, landing. Pure.

A phase is left only when its successor has held for `dwell_s`, and speeds have an upper threshold to enter and a lower
one to leave, so that gusts and noise do not make it flicker. Disarming and the start of a take-off count at once.
"""

from __future__ import annotations

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
    landing_below_m: float = 10.0
    airborne_above_m: float = 0.7


@dataclass(frozen=True)
class Motion:
    """What is known about the vehicle's motion; NaN = unknown. Climb is positive upwards."""

    armed: bool
    relative_altitude_m: float = NAN
    ground_speed_m_s: float = NAN
    climb_rate_m_s: float = NAN
    landed: Landed = Landed.UNDEFINED


class PhaseEstimator:
    """Follows one vehicle. Times are seconds of a monotonic clock."""

    def __init__(self, limits: PhaseLimits | None = None) -> None:
        self._limits = limits or PhaseLimits()
        self.phase = Phase.UNKNOWN
        self._flown = False  # airborne since it was armed
        self._candidate = Phase.UNKNOWN
        self._since_s = 0.0

    def lost(self) -> Phase:
        """No fresh heartbeat: nothing is known."""
        self.phase = self._candidate = Phase.UNKNOWN
        return self.phase

    def update(self, now_s: float, motion: Motion) -> Phase:
        """The phase after this reading of the vehicle's motion."""
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
        if not self._airborne(motion):
            return Phase.LANDING if self._flown else Phase.TAKEOFF
        first_climb = self.phase in (Phase.DISARMED, Phase.TAKEOFF)
        self._flown = True
        if first_climb and motion.climb_rate_m_s >= self._limits.climb_m_s:
            return Phase.TAKEOFF
        if self._descends_to_land(motion):
            return Phase.LANDING
        limits = self._limits
        fast_m_s = limits.cruise_leave_m_s if self.phase is Phase.CRUISE else limits.cruise_enter_m_s
        moving = motion.ground_speed_m_s >= fast_m_s or abs(motion.climb_rate_m_s) >= limits.cruise_enter_m_s
        return Phase.CRUISE if moving else Phase.HOVER

    def _airborne(self, motion: Motion) -> bool:
        if motion.landed is Landed.ON_GROUND:
            return False
        if motion.landed is Landed.IN_AIR or math.isnan(motion.relative_altitude_m):
            return motion.landed is Landed.IN_AIR or self._flown
        return motion.relative_altitude_m > self._limits.airborne_above_m

    def _descends_to_land(self, motion: Motion) -> bool:
        limits = self._limits
        return (
            motion.climb_rate_m_s <= -limits.sink_m_s
            and motion.relative_altitude_m < limits.landing_below_m
            and not motion.ground_speed_m_s >= limits.cruise_enter_m_s
        )
