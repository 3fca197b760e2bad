# SPDX-License-Identifier: Apache-2.0
"""Launch files with mavros:=mavros at both ends: the real one where it is installed, else its double."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("launch_ros.actions", reason="launch is not installed; test_mavros_ends.py uses 'pqcmav up'")

from launching import PROXIES, launched
from pqc_mav_interfaces.msg import VehicleState
from rclpy.qos import qos_profile_sensor_data
from test_mavros_ends import SYSTEM, arm, environment, vehicle
from test_up import Ends

from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.testing import Running, until
from pqc_mav_common.testing_onlooker import Onlooker

__all__ = ["environment"]


@pytest.mark.parametrize("proxy", PROXIES)
def test_the_ground_arms_the_vehicle_through_the_tunnel(
    tmp_path: Path, keys: Path, environment: dict[str, str], proxy: str
) -> None:
    ends = Ends(tmp_path, keys)
    fcu, own = free_ports(2)
    mavros = {"mavlink": "mavros", "tgt_system": SYSTEM, "proxy": proxy}
    air = {"fcu_url": f"udp://127.0.0.1:{fcu}@", "gcs_url": f"udp://127.0.0.1:{own}@127.0.0.1:{ends.plain}"}
    ground = {"fcu_url": f"udp://127.0.0.1:{ends.ground}@"}
    flying = Running(vehicle(fcu), environment)
    try:
        with (
            launched("gcs", "pqc_mav_bringup", environment, config=ends.write("gcs"), **mavros, **ground),
            launched(
                "drone", "pqc_mav_bringup", environment, config=ends.write("drone"), policy="false", **mavros, **air
            ),
            Onlooker() as graph,
        ):
            seen = graph.collect(VehicleState, "/drone/vehicle", qos_profile_sensor_data)
            until(lambda: seen and seen[-1].valid, "sensing through mavros")
            assert seen[-1].source == "mavros" and not seen[-1].armed
            assert arm(environment, "/gcs/mavros", "true") == "done"
            until(lambda: seen[-1].armed, "the vehicle armed by the ground's mavros")
    finally:
        flying.kill()
