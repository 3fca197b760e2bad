# SPDX-License-Identifier: Apache-2.0
"""The QoS profiles that only sensing has, by name."""

from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy


def state() -> QoSProfile:
    """Reliable, not latched: a late subscriber must not take an old reading for a fresh one. For topics of 1-2 Hz."""
    return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=5, reliability=ReliabilityPolicy.RELIABLE)


def mavros_state() -> QoSProfile:
    """For mavros' `state`: matches both a latched publisher and a volatile one, if it is reliable."""
    return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=10, reliability=ReliabilityPolicy.RELIABLE)
