# SPDX-License-Identifier: Apache-2.0
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy, qos_profile_sensor_data

from pqc_mav_common import qos


def test_latched_topics_serve_late_subscribers() -> None:
    for profile, depth in ((qos.latched(3), 3), (qos.latched(0), 1), (qos.event(), 10)):
        assert profile.depth == depth and profile.reliability == ReliabilityPolicy.RELIABLE
        assert profile.durability == DurabilityPolicy.TRANSIENT_LOCAL


def test_periodic_topics_hold_two_rounds() -> None:
    assert (qos.periodic(64).depth, qos.periodic(1).depth, qos.diagnostics().depth) == (128, 10, 10)
    assert qos.periodic(1).reliability == ReliabilityPolicy.RELIABLE
    assert qos.periodic(1).durability == DurabilityPolicy.VOLATILE


def test_sensor_is_ros_sensor_data() -> None:
    for name in ("history", "depth", "reliability", "durability"):
        assert getattr(qos.sensor(), name) == getattr(qos_profile_sensor_data, name)
    assert qos.sensor(20).depth == 20
