"""The QoS profiles of the proxy's topics, by name."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


def latched(depth: int) -> QoSProfile:
    """Reliable and transient local: who comes late gets the last `depth` messages (one per drone for `~/status`)."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=max(1, depth),
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )


def event(depth: int = 10) -> QoSProfile:
    """For rare things nobody should miss, also not who comes after the first handshake: `~/handshake`."""
    return latched(depth)


def periodic(drones: int) -> QoSProfile:
    """Reliable, two rounds deep: `~/stats`, `~/link` and `/diagnostics`, one message per drone and second."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST, depth=max(10, 2 * drones), reliability=ReliabilityPolicy.RELIABLE
    )
