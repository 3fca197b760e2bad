# SPDX-License-Identifier: Apache-2.0
"""Flight, battery, temperatures and wind stepped together at a fixed rate. No sockets, no clock of its own."""

import math
import random

from pqc_mav_common.geodesy import LocalFrame
from pqc_mav_sim.airframe import SEA_LEVEL_DENSITY, Airframe
from pqc_mav_sim.battery import Battery
from pqc_mav_sim.flight import Flight
from pqc_mav_sim.flight_config import FlightConfig
from pqc_mav_sim.thermal import Thermal

STEP_S = 0.02
MAX_CATCH_UP_S = 0.5
AVIONICS_W = 11.0


class Wind:
    """Steady wind plus gusts (Ornstein-Uhlenbeck, correlation time 3 s); metres per second, north and east."""

    def __init__(self, rng: random.Random, mean: tuple[float, float] = (1.5, -1.0), gust: float = 0.6) -> None:
        self._rng = rng
        self.mean = mean
        self.gust = gust
        self._north = 0.0
        self._east = 0.0

    def step(self, dt: float) -> tuple[float, float]:
        """Advance by dt seconds and return (north, east)."""
        decay = math.exp(-dt / 3.0)
        spread = self.gust * math.sqrt(1.0 - decay * decay)
        self._north = self._north * decay + spread * self._rng.gauss(0.0, 1.0)
        self._east = self._east * decay + spread * self._rng.gauss(0.0, 1.0)
        return self.mean[0] + self._north, self.mean[1] + self._east


class Plant:
    """The whole vehicle as physics; `advance` brings it to a time on a monotonic clock."""

    def __init__(
        self, frame: LocalFrame, config: FlightConfig, *, seed: int = 1, soc: float = 1.0, ambient_c: float = 20.0
    ) -> None:
        self.flight = Flight(frame, config, Airframe())
        self.battery = Battery(soc=soc)
        self.thermal = Thermal(ambient_c)
        self.wind = Wind(random.Random(seed))
        self.link_lost = False
        self.max_altitude = 0.0
        self.distance = 0.0
        self.time_jumps = 0
        self._t: float | None = None

    @property
    def density(self) -> float:
        """Air density (kg/m^3) at the vehicle: pressure falls with height, and warm air is thinner."""
        height = self.flight.frame.alt_m + max(0.0, self.flight.airframe.motion.altitude)
        return SEA_LEVEL_DENSITY * math.exp(-height / 9000.0) * 288.15 / (self.thermal.ambient_c + 273.15)

    def advance(self, t: float) -> None:
        """Step to time t (s). After a stall longer than half a second the missing time is dropped and counted."""
        if self._t is None:
            self._t = t - STEP_S
        if t - self._t > MAX_CATCH_UP_S:
            self.time_jumps += 1
            self._t = t - MAX_CATCH_UP_S
        while self._t + STEP_S <= t + 1e-9:
            self._t += STEP_S
            self._step(self._t)

    def _step(self, t: float) -> None:
        flight, battery = self.flight, self.battery
        motion = flight.airframe.motion
        wind = self.wind.step(STEP_S)
        flight.step(t, STEP_S, wind, self.density, battery.level(flight.config.battery), self.link_lost)
        rotor_w = flight.airframe.power_w
        battery.step(STEP_S, rotor_w + AVIONICS_W, self.thermal.battery_c)
        wash = 5.0 * math.sqrt(max(motion.thrust_n, 0.0) / flight.airframe.spec.hover_thrust_n)
        breeze = math.hypot(*wind) if motion.on_ground else motion.airspeed
        self.thermal.step(
            STEP_S,
            battery_heat_w=battery.heat_w,
            rotor_power_w=rotor_w,
            avionics_w=AVIONICS_W,
            flow=math.hypot(wash, breeze),
            altitude=motion.altitude,
        )
        self.max_altitude = max(self.max_altitude, motion.altitude)
        self.distance += motion.groundspeed * STEP_S
