# SPDX-License-Identifier: Apache-2.0
"""QoS of what the benchmark subscribes to, by name."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


def latched(depth: int = 10) -> QoSProfile:
    """As the proxy's `~/status` and `~/handshake`: who comes late gets the last ones."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )


def periodic(depth: int = 10) -> QoSProfile:
    """As the proxy's `~/stats` and `~/link`."""
    return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=depth, reliability=ReliabilityPolicy.RELIABLE)


def sensor(depth: int = 20) -> QoSProfile:
    """Best effort, so that both reliable and best-effort publishers of sensor data are heard."""
    return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)
