# SPDX-License-Identifier: Apache-2.0
"""Scripted flights: what the vehicle does on its own when no client commands it. No sockets, no clock.

A profile is a list of steps; each is begun again every half second until it is accepted, and left when it is done. A
command from a client ends the script, so that a pilot always has the vehicle for himself.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from pqc_mav_sim.flight import Flight
from pqc_mav_sim.modes import ACCEPTED, FlightMode, Outcome

RETRY_S = 0.5
PROFILES = ("auto", "hover", "client")
_SQUARE_M = 25.0


@dataclass(frozen=True)
class Step:
    """One step: how to begin it, what to do while it lasts (seconds since it began), and when it is done."""

    name: str
    begin: Callable[[Flight], Outcome]
    done: Callable[[Flight, float], bool]
    during: Callable[[Flight, float], None] | None = None


def _accepted(_flight: Flight) -> Outcome:
    return ACCEPTED


def _cruise(flight: Flight, elapsed: float, altitude: float, leg_s: float = 7.0) -> None:
    """Fly a square around home, one corner per leg."""
    corner = int(elapsed / leg_s) % 4
    north = flight.home.north + _SQUARE_M * (1.0 if corner in (0, 1) else 0.0)
    east = flight.home.east + _SQUARE_M * (1.0 if corner in (1, 2) else 0.0)
    if math.hypot(flight.target.north - north, flight.target.east - east) > 0.01:
        flight.goto(north, east, altitude)


def steps_of(profile: str, *, altitude: float, cruise_s: float) -> list[Step]:
    """Return the steps of a profile; ValueError for an unknown one.

    Args:
        altitude: metres above the start.
        cruise_s: seconds between take-off and landing.
    """
    arm = Step("arm", lambda f: f.arm(), lambda f, _s: f.armed)
    takeoff = Step(
        "take-off", lambda f: f.takeoff(altitude), lambda f, _s: f.in_air and f.mode is not FlightMode.TAKEOFF
    )
    cruise = Step("cruise", _accepted, lambda _f, s: s >= cruise_s, lambda f, s: _cruise(f, s, altitude))
    land = Step("land", lambda f: f.land(), lambda f, _s: not f.armed)
    pause = Step("pause", _accepted, lambda _f, s: s >= 5.0)
    stay = Step("hover", _accepted, lambda _f, _s: False)
    profiles = {"auto": [arm, takeoff, cruise, land, pause], "hover": [arm, takeoff, stay], "client": []}
    if profile not in profiles:
        raise ValueError(f"profile {profile!r} does not exist: give one of {', '.join(PROFILES)}")
    return profiles[profile]


class ProfileRunner:
    """Runs the steps over and over until it is stopped. Times are seconds on any monotonic clock."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps
        self._index = 0
        self._begun_at: float | None = None
        self._retry_at = -math.inf
        self.running = bool(steps)

    def stop(self) -> None:
        """Leave the vehicle to the client from now on."""
        self.running = False

    @property
    def step_name(self) -> str | None:
        """The step that is being flown, None when the script does not run."""
        return self._steps[self._index].name if self.running else None

    def run(self, t: float, flight: Flight) -> None:
        """Do what is due at time t."""
        if not self.running:
            return
        step = self._steps[self._index]
        if self._begun_at is None:
            if t < self._retry_at:
                return
            if not step.begin(flight).ok:
                self._retry_at = t + RETRY_S
                return
            self._begun_at = t
        elapsed = t - self._begun_at
        if step.during is not None:
            step.during(flight, elapsed)
        if step.done(flight, elapsed):
            self._index = (self._index + 1) % len(self._steps)
            self._begun_at = None
