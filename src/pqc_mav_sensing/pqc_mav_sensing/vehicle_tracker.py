# SPDX-License-Identifier: Apache-2.0
"""The autopilot's state as heartbeats and position messages tell it, to what `vehicle` publishes. Pure."""

import math
from dataclasses import dataclass

from pqc_mav_common.geodesy import LocalFrame
from pqc_mav_sensing.phase import Landed, Motion, Phase, PhaseEstimator
from pqc_mav_sensing.slope import SlidingSlope

NAN = math.nan
HEARTBEAT_LIMIT_S = 3.0
# Flight modes that are a landing, as PX4, ArduPilot and mavros name them, the last word of "AUTO.LAND".
LANDING_MODES = frozenset({"LAND", "PRECLAND", "QLAND"})
# Where the autopilot does not say how fast it climbs, the heights of this long tell, if they are this far apart.
HEIGHTS_S, APART_S = 3.0, 0.1
# Position older than this says nothing about motion now.
MOTION_LIMIT_S = 2.0


@dataclass(frozen=True)
class VehicleView:
    """What is known about the vehicle at one moment; fields as in VehicleState.msg."""

    at_s: float | None
    valid: bool
    reason: str
    armed: bool = False
    mode: str = ""
    phase: Phase = Phase.UNKNOWN
    heartbeat_age_s: float = NAN
    relative_altitude_m: float = NAN
    ground_speed_m_s: float = NAN
    climb_rate_m_s: float = NAN
    north_m: float = NAN
    east_m: float = NAN


class VehicleTracker:
    """Remembers the newest of each figure. Times are seconds of a monotonic clock."""

    def __init__(self, heartbeat_limit_s: float = HEARTBEAT_LIMIT_S) -> None:
        self._phases = PhaseEstimator()
        self._limit_s = heartbeat_limit_s
        self._heartbeat_s: float | None = None
        self._armed, self._mode = False, ""
        self._figures: dict[str, tuple[float, float]] = {}
        self._heights = SlidingSlope(HEIGHTS_S)
        self._height_s = -math.inf
        self._landed: tuple[float, Landed] = (-math.inf, Landed.UNDEFINED)
        self._place: tuple[float, float, float] = (-math.inf, NAN, NAN)  # when it was told, degrees north and east
        self._home: LocalFrame | None = None
        self._home_is_told = False

    def heartbeat(self, at_s: float, armed: bool, mode: str) -> None:
        """A heartbeat of the autopilot."""
        if armed and not self._armed and not self._home_is_told and at_s - self._place[0] <= MOTION_LIMIT_S:
            self._home = _frame(*self._place[1:])
        self._heartbeat_s, self._armed, self._mode = at_s, armed, mode

    def motion(
        self, at_s: float, *, altitude_m: float = NAN, ground_speed_m_s: float = NAN, climb_m_s: float = NAN
    ) -> None:
        """Any of the figures of motion; NaN ones are left as they were."""
        for name, value in (("altitude", altitude_m), ("speed", ground_speed_m_s), ("climb", climb_m_s)):
            if math.isfinite(value) and abs(value) < 1e5:
                self._figures[name] = (at_s, value)
                if name == "altitude" and at_s - self._height_s >= APART_S:
                    self._height_s = at_s
                    self._heights.add(at_s, value)

    def place(self, at_s: float, latitude_deg: float, longitude_deg: float) -> None:
        """Where it is; home until something better is known."""
        self._place = (at_s, latitude_deg, longitude_deg)
        self._home = self._home or _frame(latitude_deg, longitude_deg)

    def home(self, latitude_deg: float, longitude_deg: float) -> None:
        """The home that the autopilot names."""
        if frame := _frame(latitude_deg, longitude_deg):
            self._home, self._home_is_told = frame, True

    def landed(self, at_s: float, state: int) -> None:
        """MAV_LANDED_STATE; unknown numbers count as undefined."""
        self._landed = (at_s, Landed(state) if state in Landed._value2member_map_ else Landed.UNDEFINED)

    def view(self, now_s: float) -> VehicleView:
        """What is known at `now_s`; also advances the phase."""
        beat_s = self._heartbeat_s
        if beat_s is None or now_s - beat_s > self._limit_s:
            self._phases.lost()
            if beat_s is None:
                return VehicleView(None, False, "no heartbeat from an autopilot has arrived yet")
            age_s = now_s - beat_s
            return VehicleView(
                beat_s, False, f"the last heartbeat is {age_s:.1f} s old", heartbeat_age_s=age_s, mode=self._mode
            )
        altitude, speed, climb = (self._fresh(name, now_s) for name in ("altitude", "speed", "climb"))
        if math.isnan(climb):
            climb = self._heights.per_minute(now_s) / 60.0
        landed = self._landed[1] if now_s - self._landed[0] <= MOTION_LIMIT_S else Landed.UNDEFINED
        to_land = self._mode.rpartition(".")[2].upper() in LANDING_MODES
        phase = self._phases.update(now_s, Motion(self._armed, altitude, speed, climb, landed, to_land))
        motion = (altitude, speed, climb, *self._from_home(now_s))
        return VehicleView(beat_s, True, "", self._armed, self._mode, phase, now_s - beat_s, *motion)

    def _from_home(self, now_s: float) -> tuple[float, float]:
        at_s, latitude_deg, longitude_deg = self._place
        if self._home is None or now_s - at_s > MOTION_LIMIT_S:
            return NAN, NAN
        return self._home.to_local(latitude_deg, longitude_deg)

    def _fresh(self, name: str, now_s: float) -> float:
        at_s, value = self._figures.get(name, (-math.inf, NAN))
        return value if now_s - at_s <= MOTION_LIMIT_S else NAN


def _frame(latitude_deg: float, longitude_deg: float) -> LocalFrame | None:
    """Metres around a place; None for one that cannot be."""
    try:
        return LocalFrame(latitude_deg, longitude_deg, 0.0)
    except ValueError:
        return None
