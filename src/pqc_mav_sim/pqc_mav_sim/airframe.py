# SPDX-License-Identifier: Apache-2.0
"""Point-mass quadrotor: tracks a velocity setpoint, and derives attitude, thrust and power from the motion.

No sockets and no clock: `step` is given the time step. Frames are NED (north, east, down) and body FRD; metres,
seconds, newtons, watts, radians. The acceleration follows the setpoint as a critically damped second-order system,
so attitude and body rates, which are derived from it, stay continuous; roll, pitch and rates are exact
kinematic consequences of the flown trajectory and therefore agree with position and velocity.
"""

import math
from dataclasses import dataclass

from pqc_mav_common.geodesy import wrap_pi

GRAVITY = 9.80665
SEA_LEVEL_DENSITY = 1.225


@dataclass(frozen=True)
class AirframeSpec:
    """Constants of a 1.6 kg quadrotor with 10-inch propellers on a 4S pack."""

    mass_kg: float = 1.6
    disc_area_m2: float = 4.0 * math.pi * 0.127**2
    figure_of_merit: float = 0.62
    drivetrain_efficiency: float = 0.80
    profile_power_w: float = 18.0
    idle_power_w: float = 14.0
    drag_linear: float = 0.10
    drag_quadratic: float = 0.03
    accel_horizontal: float = 4.0
    accel_vertical: float = 3.0
    yaw_rate: float = math.radians(60.0)
    velocity_tau_s: float = 0.6
    accel_tau_s: float = 0.15

    @property
    def hover_thrust_n(self) -> float:
        """Thrust that carries the weight (N)."""
        return self.mass_kg * GRAVITY

    @property
    def max_thrust_n(self) -> float:
        """Full-throttle thrust; twice the weight is usual for this class."""
        return 2.0 * self.hover_thrust_n


@dataclass
class Motion:
    """Everything kinematic, at one instant. Positions are relative to the local frame's origin."""

    north: float = 0.0
    east: float = 0.0
    down: float = 0.0
    vn: float = 0.0
    ve: float = 0.0
    vd: float = 0.0
    an: float = 0.0
    ae: float = 0.0
    ad: float = 0.0
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0
    p: float = 0.0
    q: float = 0.0
    r: float = 0.0
    thrust_n: float = 0.0
    airspeed: float = 0.0
    on_ground: bool = True

    @property
    def groundspeed(self) -> float:
        """Horizontal speed over ground (m/s)."""
        return math.hypot(self.vn, self.ve)

    @property
    def altitude(self) -> float:
        """Metres above the ground the vehicle started from."""
        return -self.down


@dataclass(frozen=True)
class Setpoint:
    """Velocity (m/s, NED) and heading (rad) the airframe is asked to fly."""

    vn: float = 0.0
    ve: float = 0.0
    vd: float = 0.0
    yaw: float = 0.0


def rotor_power(spec: AirframeSpec, thrust_n: float, climb: float, forward: float, density: float) -> float:
    """Return the electrical power (W) of all rotors at a thrust.

    Momentum theory: the induced velocity solves Glauert's equation v_i = v_h^2 / |V| by fixed-point iteration
    (J. G. Leishman, Principles of Helicopter Aerodynamics, ch. 2); ideal power is divided by the figure of merit
    and the drivetrain's efficiency. Descent never returns energy: power does not fall below 30 % of hovering.

    Args:
        thrust_n: total thrust, >= 0.
        climb: speed along the thrust axis, positive up (m/s).
        forward: speed in the disc plane (m/s).
        density: air density (kg/m^3).
    """
    if thrust_n <= 0.0:
        return 0.0
    hover_v2 = thrust_n / (2.0 * density * spec.disc_area_m2)
    induced = math.sqrt(hover_v2)
    hover_ideal = thrust_n * induced
    for _ in range(4):
        # averaging the iterate damps the oscillation of the plain fixed point near hover
        induced = 0.5 * (induced + hover_v2 / math.hypot(forward, induced + max(climb, 0.0)))
    ideal = max(thrust_n * (induced + climb), 0.3 * hover_ideal)
    return ideal / (spec.figure_of_merit * spec.drivetrain_efficiency) + spec.profile_power_w


def thrust_attitude(fn: float, fe: float, fd: float, yaw: float) -> tuple[float, float]:
    """Return (roll, pitch) that point the thrust along the specific force (fn, fe, fd) (m/s^2, NED) at a heading."""
    norm = math.sqrt(fn * fn + fe * fe + fd * fd)
    if norm < 1e-6:
        return 0.0, 0.0
    zn, ze, zd = -fn / norm, -fe / norm, -fd / norm
    cos_yaw, sin_yaw = math.cos(yaw), math.sin(yaw)
    forward = cos_yaw * zn + sin_yaw * ze
    right = -sin_yaw * zn + cos_yaw * ze
    return math.asin(max(-1.0, min(1.0, -right))), math.atan2(forward, zd)


class Airframe:
    """Integrates the motion; `power_w` is what the rotors draw from the battery right now."""

    def __init__(self, spec: AirframeSpec | None = None) -> None:
        self.spec = spec or AirframeSpec()
        self.motion = Motion()
        self.power_w = 0.0

    def step(self, dt: float, setpoint: Setpoint | None, wind: tuple[float, float], density: float) -> None:
        """Advance by dt seconds (0 < dt <= 0.1).

        Args:
            setpoint: what to fly; None means the motors are stopped.
            wind: (north, east) m/s.
            density: kg/m^3.
        """
        m = self.motion
        if m.on_ground and (setpoint is None or setpoint.vd >= 0.0):
            self._rest(dt, setpoint)
            return
        m.on_ground = False
        drag_n, drag_e, drag_d = self._drag(wind)
        if setpoint is None:
            m.an, m.ae, m.ad = drag_n, drag_e, GRAVITY + drag_d
        else:
            self._track(dt, setpoint)
        m.north += (m.vn + 0.5 * m.an * dt) * dt
        m.east += (m.ve + 0.5 * m.ae * dt) * dt
        m.down += (m.vd + 0.5 * m.ad * dt) * dt
        m.vn += m.an * dt
        m.ve += m.ae * dt
        m.vd += m.ad * dt
        if m.down >= 0.0 and m.vd >= 0.0:
            m.down = 0.0
            m.on_ground = True
            self._rest(dt, setpoint)
            return
        self._point(dt, setpoint, (drag_n, drag_e, drag_d), wind, density)

    def stop_motors(self) -> None:
        """Take thrust and power away at once, not only in the next step."""
        self.motion.thrust_n = self.power_w = 0.0

    def _rest(self, dt: float, setpoint: Setpoint | None) -> None:
        m = self.motion
        m.vn = m.ve = m.vd = m.an = m.ae = m.ad = 0.0
        level = math.exp(-dt / self.spec.accel_tau_s)
        m.roll *= level
        m.pitch *= level
        m.p = m.q = m.r = 0.0
        m.airspeed = 0.0
        m.thrust_n = 0.0 if setpoint is None else 0.05 * self.spec.hover_thrust_n
        self.power_w = 0.0 if setpoint is None else self.spec.idle_power_w

    def _drag(self, wind: tuple[float, float]) -> tuple[float, float, float]:
        """Acceleration (m/s^2) the air gives to the vehicle."""
        m = self.motion
        an, ae = m.vn - wind[0], m.ve - wind[1]
        speed = math.sqrt(an * an + ae * ae + m.vd * m.vd)
        m.airspeed = speed
        k = -(self.spec.drag_linear + self.spec.drag_quadratic * speed) / self.spec.mass_kg
        return k * an, k * ae, k * m.vd

    def _track(self, dt: float, setpoint: Setpoint) -> None:
        m, spec = self.motion, self.spec
        an = (setpoint.vn - m.vn) / spec.velocity_tau_s
        ae = (setpoint.ve - m.ve) / spec.velocity_tau_s
        ad = (setpoint.vd - m.vd) / spec.velocity_tau_s
        norm = math.hypot(an, ae)
        if norm > spec.accel_horizontal:
            an *= spec.accel_horizontal / norm
            ae *= spec.accel_horizontal / norm
        ad = max(-spec.accel_vertical, min(spec.accel_vertical, ad))
        blend = 1.0 - math.exp(-dt / spec.accel_tau_s)
        m.an += (an - m.an) * blend
        m.ae += (ae - m.ae) * blend
        m.ad += (ad - m.ad) * blend

    def _point(
        self,
        dt: float,
        setpoint: Setpoint | None,
        drag: tuple[float, float, float],
        wind: tuple[float, float],
        density: float,
    ) -> None:
        m, spec = self.motion, self.spec
        if setpoint is None:
            m.thrust_n = self.power_w = m.p = m.q = m.r = 0.0
            return
        yaw_step = max(-spec.yaw_rate * dt, min(spec.yaw_rate * dt, wrap_pi(setpoint.yaw - m.yaw)))
        yaw = wrap_pi(m.yaw + yaw_step)
        fn, fe, fd = m.an - drag[0], m.ae - drag[1], m.ad - GRAVITY - drag[2]
        roll, pitch = thrust_attitude(fn, fe, fd, yaw)
        roll_rate, pitch_rate, yaw_rate = (roll - m.roll) / dt, (pitch - m.pitch) / dt, yaw_step / dt
        m.roll, m.pitch, m.yaw = roll, pitch, yaw
        sin_roll, cos_roll, sin_pitch, cos_pitch = math.sin(roll), math.cos(roll), math.sin(pitch), math.cos(pitch)
        m.p = roll_rate - yaw_rate * sin_pitch
        m.q = pitch_rate * cos_roll + yaw_rate * sin_roll * cos_pitch
        m.r = -pitch_rate * sin_roll + yaw_rate * cos_roll * cos_pitch
        force = math.sqrt(fn * fn + fe * fe + fd * fd)
        m.thrust_n = min(spec.mass_kg * force, spec.max_thrust_n)
        along = ((m.vn - wind[0]) * fn + (m.ve - wind[1]) * fe + m.vd * fd) / max(force, 1e-6)
        in_plane = math.sqrt(max(m.airspeed * m.airspeed - along * along, 0.0))
        self.power_w = rotor_power(spec, m.thrust_n, along, in_plane, density)
