# SPDX-License-Identifier: Apache-2.0
"""The flight controller: arming, modes, take-off and landing, failsafes. No sockets, no clock.

Commands return an `Outcome`; `step` flies one time step and leaves what the pilot should read in `events`.
"""

import math

from pqc_mav_common.geodesy import LocalFrame
from pqc_mav_sim.airframe import Airframe, Setpoint
from pqc_mav_sim.battery import BatteryLevel
from pqc_mav_sim.failsafe import Failsafe
from pqc_mav_sim.flight_config import FlightConfig
from pqc_mav_sim.guidance import Sticks, Target, climb_at, descend_at, fly_sticks, fly_to
from pqc_mav_sim.mission_plan import MissionPlan, NavCommand
from pqc_mav_sim.modes import ACCEPTED, Event, FlightMode, Landed, Outcome, Result, Severity

ESTIMATOR_READY_S = 1.0
STICKS_FRESH_S = 0.5
MAX_DISTANCE_M = 5000.0
MAX_ALTITUDE_M = 500.0


def _rejected(text: str) -> Outcome:
    return Outcome(Result.TEMPORARILY_REJECTED, text)


def _denied(text: str) -> Outcome:
    return Outcome(Result.DENIED, text)


class Flight:
    """One vehicle. `t` is the time (s) of the last step; everything starts disarmed on the ground at the origin."""

    def __init__(self, frame: LocalFrame, config: FlightConfig, airframe: Airframe | None = None) -> None:
        self.frame = frame
        self.config = config
        self.airframe = airframe or Airframe()
        self.mission = MissionPlan()
        self.failsafe = Failsafe()
        self.mode = FlightMode.HOLD
        self.armed = False
        self.landed = Landed.ON_GROUND
        self.home = Target(0.0, 0.0, 0.0, 0.0)
        self.events: list[Event] = []
        self.reached: list[int] = []
        self.t = 0.0
        self._started: float | None = None
        self._anchor = self.home
        self._idle_since = 0.0
        self._flown = False
        self._sticks = Sticks()
        self._sticks_at = -math.inf
        self._returning = False
        self._motors_dead = False

    @property
    def ready(self) -> bool:
        """Whether the position estimate has settled, the precondition for arming."""
        return self._started is not None and self.t - self._started >= ESTIMATOR_READY_S

    @property
    def in_air(self) -> bool:
        """Whether the vehicle has left the ground and not landed since."""
        return self.landed is not Landed.ON_GROUND

    @property
    def target(self) -> Target:
        """Where the vehicle is heading, for the setpoint telemetry."""
        return self._anchor

    # commands

    def arm(self, *, force: bool = False) -> Outcome:
        """Start the motors; `force` ignores the battery warning, nothing else."""
        if self.armed:
            return ACCEPTED
        if not self.ready:
            return _rejected("Arming denied: position estimate not ready")
        if self._motors_dead:
            return _denied("Arming denied: battery empty")
        if not force and self.failsafe.level >= BatteryLevel.CRITICAL:
            return _rejected("Arming denied: battery critical")
        m = self.airframe.motion
        self.armed = True
        self._flown = False
        self._idle_since = self.t
        self.home = Target(m.north, m.east, m.altitude, m.yaw)
        if self.mode in (FlightMode.LAND, FlightMode.RTL, FlightMode.TAKEOFF):
            self.mode = FlightMode.HOLD
        self._hold_here()
        self._say(Severity.INFO, "Armed by external command")
        return ACCEPTED

    def disarm(self, *, force: bool = False) -> Outcome:
        """Stop the motors; in flight only with `force`, and then the vehicle falls."""
        if not self.armed:
            return ACCEPTED
        if self.in_air and not force:
            return _denied("Disarming denied: not landed")
        self._disarm("Disarmed by external command" if not self.in_air else "Motors stopped in flight")
        return ACCEPTED

    def takeoff(self, altitude: float | None = None) -> Outcome:
        """Climb to an altitude (m above the start); None takes the configured one."""
        if not self.armed:
            return _rejected("Take-off denied: arm first")
        if self.in_air:
            return _rejected("Take-off denied: already flying")
        m = self.airframe.motion
        goal = m.altitude + self.config.takeoff_alt if altitude is None else altitude
        if not (math.isfinite(goal) and m.altitude < goal <= MAX_ALTITUDE_M):
            return _denied("Take-off denied: bad altitude")
        self._enter(FlightMode.TAKEOFF)
        self._anchor = Target(m.north, m.east, goal, m.yaw)
        self._say(Severity.INFO, "Takeoff detected")
        return ACCEPTED

    def land(self) -> Outcome:
        """Descend where the vehicle is."""
        if not self.armed:
            return _rejected("Landing denied: not armed")
        self._enter(FlightMode.LAND)
        return ACCEPTED

    def return_home(self) -> Outcome:
        """Climb to the return altitude, fly home and land."""
        if not self.in_air:
            return _rejected("Return denied: not flying")
        self._enter(FlightMode.RTL)
        return ACCEPTED

    def hold(self) -> Outcome:
        """Stay where the vehicle is."""
        self._enter(FlightMode.HOLD)
        return ACCEPTED

    def goto(self, north: float, east: float, altitude: float | None, yaw: float | None = None) -> Outcome:
        """Fly to a place (m, local frame; altitude above the start) and hold there."""
        if not self.in_air or not self.armed:
            return _rejected("Reposition denied: not flying")
        m = self.airframe.motion
        goal = m.altitude if altitude is None else altitude
        if not math.hypot(north - self.home.north, east - self.home.east) <= MAX_DISTANCE_M:
            return _denied("Reposition denied: too far from home")
        if not 1.0 <= goal <= MAX_ALTITUDE_M:
            return _denied("Reposition denied: bad altitude")
        course = math.atan2(east - m.east, north - m.north)
        self._enter(FlightMode.HOLD)
        self._anchor = Target(north, east, goal, course if yaw is None else yaw)
        return ACCEPTED

    def start_mission(self) -> Outcome:
        """Fly the mission from its current item, from the first one when it was finished."""
        if not self.mission.items:
            return _rejected("Mission denied: no mission loaded")
        if not self.armed:
            return _rejected("Mission denied: arm first")
        if self.mission.finished:
            self.mission.restart()
        self._enter(FlightMode.MISSION)
        return ACCEPTED

    def set_mode(self, mode: FlightMode) -> Outcome:
        """Switch the mode as a ground station's mode selector does."""
        if mode is self.mode and mode is not FlightMode.MISSION:
            return ACCEPTED
        if mode is FlightMode.POSCTL and self.t - self._sticks_at > STICKS_FRESH_S:
            return _rejected("Position mode denied: no manual control")
        handlers = {
            FlightMode.TAKEOFF: self.takeoff,
            FlightMode.LAND: self.land,
            FlightMode.RTL: self.return_home,
            FlightMode.MISSION: self.start_mission,
        }
        if mode in handlers:
            return handlers[mode]()
        self._enter(mode)
        return ACCEPTED

    def set_home(self, north: float, east: float, altitude: float) -> Outcome:
        """Move the home position (m, local frame; altitude above the start)."""
        if not math.hypot(north, east) <= MAX_DISTANCE_M:
            return _denied("Set home denied: too far away")
        self.home = Target(north, east, altitude, 0.0)
        return ACCEPTED

    def sticks(self, sticks: Sticks) -> None:
        """Take the pilot's sticks; they fly the vehicle in POSCTL only."""
        self._sticks = sticks
        self._sticks_at = self.t

    # time

    def step(
        self, t: float, dt: float, wind: tuple[float, float], density: float, level: BatteryLevel, link_lost: bool
    ) -> None:
        """Fly from t - dt to t (s); wind (north, east) in m/s, density in kg/m^3."""
        if self._started is None:
            self._started = t
        self.t = t
        self._run_failsafes(level, link_lost)
        self.airframe.step(dt, self._setpoint() if self.armed else None, wind, density)
        self._update_landed()

    def _run_failsafes(self, level: BatteryLevel, link_lost: bool) -> None:
        for event, mode in (self.failsafe.battery(level, self.config), self.failsafe.link(link_lost, self.config)):
            if event is not None:
                self.events.append(event)
            if mode is not None and self.in_air and self.armed and self.mode is not FlightMode.LAND:
                self._say(Severity.WARNING, f"Failsafe: {mode.name}")
                self._enter(mode)
        if level is BatteryLevel.DEPLETED and not self._motors_dead:
            self._motors_dead = True
            if self.armed:
                self._disarm("Disarmed: battery empty")

    def _setpoint(self) -> Setpoint:
        m, config = self.airframe.motion, self.config
        if self.mode is FlightMode.TAKEOFF:
            if m.altitude >= self._anchor.altitude - 0.15:
                self.mode = FlightMode.HOLD
            return climb_at(m, self._anchor, config)
        if self.mode is FlightMode.MISSION:
            return self._mission_setpoint()
        if not self.in_air:
            return Setpoint(yaw=m.yaw)
        if self.mode is FlightMode.RTL:
            return self._return_setpoint()
        if self.mode is FlightMode.LAND:
            return descend_at(m, self._anchor, config)
        if self.mode is FlightMode.POSCTL:
            if self.t - self._sticks_at <= STICKS_FRESH_S:
                return fly_sticks(m, self._sticks, config)
            self._say(Severity.WARNING, "Manual control lost, holding")
            self._enter(FlightMode.HOLD)
        return fly_to(m, self._anchor, config.cruise_speed, config)

    def _return_setpoint(self) -> Setpoint:
        m, config = self.airframe.motion, self.config
        distance = math.hypot(self.home.north - m.north, self.home.east - m.east)
        if distance < config.acceptance_radius:
            self._enter(FlightMode.LAND)
            self._anchor = Target(self.home.north, self.home.east, 0.0, m.yaw)
            return descend_at(m, self._anchor, config)
        if not self._returning and m.altitude >= self._anchor.altitude - 1.0:
            self._returning = True
            self._anchor = Target(self.home.north, self.home.east, self._anchor.altitude, m.yaw)
        return fly_to(m, self._anchor, config.cruise_speed, config)

    def _mission_setpoint(self) -> Setpoint:
        m, config, plan = self.airframe.motion, self.config, self.mission
        item = plan.item
        if item is None:
            self._say(Severity.INFO, "Mission finished, holding")
            self._enter(FlightMode.HOLD)
            return fly_to(m, self._anchor, config.cruise_speed, config)
        if item.command in (NavCommand.LAND, NavCommand.RETURN) and not self.in_air:
            return Setpoint(yaw=m.yaw)
        if item.command == NavCommand.RETURN:
            self._enter(FlightMode.RTL)
            return self._return_setpoint()
        target = plan.target(self.frame, self._anchor)
        if not self.in_air:
            target = Target(m.north, m.east, max(target.altitude, config.takeoff_alt), m.yaw)
        self._anchor = target
        distance = math.hypot(target.north - m.north, target.east - m.east)
        if item.command == NavCommand.LAND:
            if distance < config.acceptance_radius:
                self._enter(FlightMode.LAND)
                self._anchor = target
                return descend_at(m, target, config)
            target = Target(target.north, target.east, m.altitude, target.yaw)
        elif self.in_air:
            done = plan.advance(self.t, distance, target.altitude - m.altitude, config.acceptance_radius)
            if done is not None:
                self.reached.append(done)
        return fly_to(m, target, plan.speed or config.cruise_speed, config)

    def _update_landed(self) -> None:
        m = self.airframe.motion
        if not m.on_ground:
            self._flown = True
            self._idle_since = self.t
            if self.mode is FlightMode.LAND or not self.armed:
                self.landed = Landed.LANDING
            elif self.mode is FlightMode.TAKEOFF:
                self.landed = Landed.TAKEOFF
            else:
                self.landed = Landed.IN_AIR
            return
        if self.in_air:
            self.landed = Landed.ON_GROUND
            self._say(Severity.INFO, "Landing detected")
        if not self.armed:
            return
        limit = self.config.disarm_after_land_s if self._flown else self.config.disarm_preflight_s
        if 0.0 <= limit < self.t - self._idle_since and (self.mode is not FlightMode.MISSION or self._flown):
            self._disarm("Disarmed by landing" if self._flown else "Disarmed: no take-off")

    def _enter(self, mode: FlightMode) -> None:
        self.mode = mode
        self._returning = False
        self._hold_here()
        if mode is FlightMode.RTL:
            m = self.airframe.motion
            self._anchor = Target(m.north, m.east, max(m.altitude, self.config.return_alt), m.yaw)

    def _hold_here(self) -> None:
        m = self.airframe.motion
        self._anchor = Target(m.north, m.east, m.altitude, m.yaw)

    def _disarm(self, reason: str) -> None:
        self.armed = False
        self.airframe.stop_motors()
        self._say(Severity.INFO, reason)

    def _say(self, severity: Severity, text: str) -> None:
        self.events.append(Event(severity, text))
