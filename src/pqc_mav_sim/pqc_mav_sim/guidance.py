# SPDX-License-Identifier: Apache-2.0
"""From where the vehicle should be to the velocity it should fly: pure functions, no state."""

import math
from dataclasses import dataclass

from pqc_mav_sim.airframe import Motion, Setpoint
from pqc_mav_sim.flight_config import FlightConfig

_GAIN = 0.5
_BRAKE = 1.8
_TURN_DISTANCE_M = 3.0


@dataclass(frozen=True)
class Target:
    """A place to be: metres in the local frame, altitude above the start, and a heading (rad) for when it is close."""

    north: float
    east: float
    altitude: float
    yaw: float


@dataclass(frozen=True)
class Sticks:
    """Pilot's sticks, each -1..1: forward, right, up, turn right."""

    forward: float = 0.0
    right: float = 0.0
    up: float = 0.0
    turn: float = 0.0


def approach_speed(distance: float, limit: float) -> float:
    """Return the speed (m/s) at which a distance (m, >= 0) can still be closed without overshoot.

    Linear near the target, then the square root of constant braking, at most `limit`; continuous in between.
    """
    knee = _BRAKE / _GAIN**2
    if distance < knee:
        return min(limit, _GAIN * distance)
    return min(limit, math.sqrt(2.0 * _BRAKE * (distance - 0.5 * knee)))


def fly_to(motion: Motion, target: Target, speed: float, config: FlightConfig) -> Setpoint:
    """Return the setpoint towards a target; the nose follows the course until the target is close."""
    dn, de = target.north - motion.north, target.east - motion.east
    distance = math.hypot(dn, de)
    horizontal = approach_speed(distance, speed)
    scale = horizontal / distance if distance > 1e-6 else 0.0
    rise = target.altitude - motion.altitude
    vertical = approach_speed(abs(rise), config.climb_speed if rise > 0.0 else config.sink_speed)
    yaw = math.atan2(de, dn) if distance > _TURN_DISTANCE_M else target.yaw
    return Setpoint(dn * scale, de * scale, -math.copysign(vertical, rise), yaw)


def climb_at(motion: Motion, target: Target, config: FlightConfig) -> Setpoint:
    """Return the setpoint of a take-off: straight up at the take-off speed."""
    hold = fly_to(motion, target, config.cruise_speed, config)
    return Setpoint(hold.vn, hold.ve, max(hold.vd, -config.takeoff_speed), target.yaw)


def descend_at(motion: Motion, target: Target, config: FlightConfig) -> Setpoint:
    """Return the setpoint of a landing: straight down, slowly near the ground."""
    hold = fly_to(motion, target, config.cruise_speed, config)
    down = config.sink_speed if motion.altitude > config.land_slow_alt else config.land_speed
    return Setpoint(hold.vn, hold.ve, down, target.yaw)


def fly_sticks(motion: Motion, sticks: Sticks, config: FlightConfig) -> Setpoint:
    """Return the setpoint a pilot asks for: speeds in the heading frame, turn as a heading lead."""
    cos_yaw, sin_yaw = math.cos(motion.yaw), math.sin(motion.yaw)
    forward, right = sticks.forward * config.stick_speed, sticks.right * config.stick_speed
    vertical = -sticks.up * (config.climb_speed if sticks.up > 0.0 else config.sink_speed)
    return Setpoint(
        cos_yaw * forward - sin_yaw * right,
        sin_yaw * forward + cos_yaw * right,
        vertical,
        motion.yaw + 0.5 * sticks.turn,
    )
