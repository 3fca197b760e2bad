"""The QoS profiles of the sensing topics, by name."""

from __future__ import annotations

from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data


def state() -> QoSProfile:
    """Reliable, not latched: an old reading must not pass for a fresh one to who comes late. 1-2 Hz topics."""
    return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=5, reliability=ReliabilityPolicy.RELIABLE)


def stream() -> QoSProfile:
    """SensorDataQoS (best effort): `power` and `battery_state`, where the next message comes soon anyway."""
    return qos_profile_sensor_data


def mavros_sensor() -> QoSProfile:
    """What mavros offers `battery` with; a reliable subscriber would get nothing."""
    return qos_profile_sensor_data


def mavros_state() -> QoSProfile:
    """For mavros' `state`: takes what a reliable, latched publisher and what a volatile one offers."""
    return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=10, reliability=ReliabilityPolicy.RELIABLE)


def diagnostics() -> QoSProfile:
    """For `/diagnostics`."""
    return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=10, reliability=ReliabilityPolicy.RELIABLE)
