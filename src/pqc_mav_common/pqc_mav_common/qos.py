# SPDX-License-Identifier: Apache-2.0
"""QoS profiles by name: publishers and subscribers mean the same by it."""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


def latched(depth: int) -> QoSProfile:
    """Reliable and transient local: a late subscriber gets the last `depth` messages (one per drone for `~/status`)."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=max(1, depth),
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )


def event(depth: int = 10) -> QoSProfile:
    """For rare messages that nobody should miss, not even a late subscriber: `~/handshake`."""
    return latched(depth)


def periodic(drones: int) -> QoSProfile:
    """Reliable, two rounds deep: `~/stats` and `~/link`, one message per drone and second."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST, depth=max(10, 2 * drones), reliability=ReliabilityPolicy.RELIABLE
    )


def diagnostics() -> QoSProfile:
    """For `/diagnostics`, one message per node and second."""
    return periodic(1)


def sensor(depth: int = 5) -> QoSProfile:
    """Best effort (SensorDataQoS), for streams whose next message comes soon anyway.

    A subscriber with it hears both reliable and best-effort publishers.
    """
    return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)
