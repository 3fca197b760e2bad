# SPDX-License-Identifier: Apache-2.0
"""Attitude arithmetic and the integer units MAVLink wants, shared by everything that builds messages."""

import math


def quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """Return the unit quaternion (w, x, y, z) of the ZYX Euler angles (rad)."""
    cr, sr = math.cos(roll / 2), math.sin(roll / 2)
    cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def to_body(vector: tuple[float, float, float], roll: float, pitch: float, yaw: float) -> tuple[float, float, float]:
    """Rotate a NED vector into the body frame (forward, right, down)."""
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    n, e, d = vector
    forward, right = cy * n + sy * e, -sy * n + cy * e
    tilted = sp * forward + cp * d
    return cp * forward - sp * d, cr * right + sr * tilted, -sr * right + cr * tilted


def centidegrees(angle: float) -> int:
    """Return an angle (rad) as 0..35999 hundredths of a degree."""
    return round(math.degrees(angle) * 100) % 36000


def boot_ms(t: float) -> int:
    """Return seconds since boot as MAVLink's 32-bit milliseconds, which wrap after 49 days."""
    return int(t * 1000.0) & 0xFFFFFFFF


def boot_us(t: float) -> int:
    """Return seconds since boot as MAVLink's 64-bit microseconds."""
    return int(t * 1e6)
