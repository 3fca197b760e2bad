# SPDX-License-Identifier: Apache-2.0
"""Launch files with mavros:=mavros at both ends: the real one where it is installed, else its double."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("launch_ros.actions", reason="launch is not installed; test_mavros_ends.py uses 'pqcmav up'")

from diagnostic_msgs.msg import DiagnosticArray
from launching import PROXIES, launched
from pqc_mav_interfaces.msg import VehicleState
from rclpy.qos import qos_profile_sensor_data
from test_mavros_ends import SYSTEM, arm, environment, vehicle
from test_up import Ends

from pqc_mav_bringup.composed import CONTAINERS
from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.testing import Running, until
from pqc_mav_common.testing_onlooker import Onlooker, diagnosed

__all__ = ["environment"]
PLUGINS = """
/**: {ros__parameters: {plugin_allowlist: [sys_status, command]}}
"""
CONFIG = """
/**/sys: {ros__parameters: {heartbeat_rate: 2.0}}
"""


@contextmanager
def drone(ends: Ends, environment: dict[str, str], **arguments: object) -> Iterator[Onlooker]:
    """A drone with mavros and a vehicle, seen from outside."""
    fcu, own = free_ports(2)
    air = {"fcu_url": f"udp://127.0.0.1:{fcu}@", "gcs_url": f"udp://127.0.0.1:{own}@127.0.0.1:{ends.plain}"}
    given = {"config": ends.write("drone"), "policy": "false", "mavlink": "mavros", "tgt_system": SYSTEM, **air}
    flying = Running(vehicle(fcu), environment)
    try:
        with launched("drone", "pqc_mav_bringup", environment, **given, **arguments), Onlooker() as graph:
            yield graph
    finally:
        flying.kill()


@contextmanager
def ground(ends: Ends, environment: dict[str, str], **arguments: object) -> Iterator[None]:
    """Ground software that is a mavros."""
    given = {"config": ends.write("gcs"), "mavlink": "mavros", "tgt_system": SYSTEM}
    url = f"udp://127.0.0.1:{ends.ground}@"
    with launched("gcs", "pqc_mav_bringup", environment, **given, fcu_url=url, **arguments):
        yield


@pytest.mark.parametrize("proxy", PROXIES)
def test_the_ground_arms_the_vehicle_through_the_tunnel(
    tmp_path: Path, keys: Path, environment: dict[str, str], proxy: str
) -> None:
    ends = Ends(tmp_path, keys)
    with ground(ends, environment, proxy=proxy), drone(ends, environment, proxy=proxy) as graph:
        seen = graph.collect(VehicleState, "/drone/vehicle", qos_profile_sensor_data)
        until(lambda: seen and seen[-1].valid, "sensing through mavros")
        assert seen[-1].source == "mavros" and not seen[-1].armed
        assert arm(environment, "/gcs/mavros", "true") == "done"
        until(lambda: seen[-1].armed, "the vehicle armed by the ground's mavros")


@pytest.mark.parametrize("composed", CONTAINERS)
def test_mavros_in_a_container_does_what_it_does_alone(
    tmp_path: Path, keys: Path, environment: dict[str, str], composed: str
) -> None:
    if environment or "cpp" not in PROXIES:
        pytest.skip("mavros in a container needs mavros itself, and the proxy in C++")
    ends = Ends(tmp_path, keys)
    (config := tmp_path / "config.yaml").write_text(CONFIG)
    with ground(ends, environment), drone(ends, environment, composed=composed, config_yaml=config) as graph:
        seen = graph.collect(VehicleState, "/drone/vehicle", qos_profile_sensor_data)
        said = graph.collect(DiagnosticArray, "/diagnostics", 16)
        until(lambda: seen and seen[-1].valid, "sensing through mavros")
        assert seen[-1].source == "mavros"
        for name in ("/drone/pqc_container", "/drone/pqc_proxy", "/mavros/mavros", "/mavros/cmd", "/mavros/sys"):
            until(lambda name=name: graph.sees(name), name)
        assert graph.values("/mavros/sys")["heartbeat_rate"] == 2.0
        assert arm(environment, "/gcs/mavros", "true") == "done"
        until(lambda: seen[-1].armed, "the vehicle armed by the ground's mavros")
        until(lambda: diagnosed(said, "drone/pqc_proxy: sockets")[0] == 0, "no open socket")
        until(lambda: diagnosed(said, "drone/pqc_proxy: mavros")[0] == 0, "no mavros in reach of another")
        assert graph.change("/drone/pqc_proxy", "deactivate")
        assert arm(environment, "/gcs/mavros", "false") == "refused"
        # On a busy machine the newest state may be too old to say anything, armed or not.
        newest = until(lambda: seen[-1] if seen[-1].valid else None, "a state of the vehicle")
        assert newest.armed, "no way but the tunnel"


@pytest.mark.parametrize("composed", ["false", *CONTAINERS])
def test_a_simulated_clock_is_that_of_mavros_and_its_plugins_too(
    tmp_path: Path, keys: Path, environment: dict[str, str], composed: str
) -> None:
    if composed != "false" and (environment or "cpp" not in PROXIES):
        pytest.skip("mavros in a container needs mavros itself, and the proxy in C++")
    ends = Ends(tmp_path, keys)
    with drone(ends, environment, composed=composed, use_sim_time="true") as graph:
        for name in ("/drone/pqc_proxy", "/mavros/mavros", "/mavros/mavros_router", "/mavros/sys"):
            until(lambda name=name: graph.sees(name), name)
            assert graph.values(name)["use_sim_time"] is True, name


def test_a_plugin_list_of_ones_own_and_settings_of_plugins(
    tmp_path: Path, keys: Path, environment: dict[str, str]
) -> None:
    ends = Ends(tmp_path, keys)
    (plugins := tmp_path / "plugins.yaml").write_text(PLUGINS)
    (config := tmp_path / "config.yaml").write_text(CONFIG)
    files = {"pluginlists_yaml": plugins, "config_yaml": config}
    with drone(ends, environment, **files) as graph:
        seen = graph.collect(VehicleState, "/drone/vehicle", qos_profile_sensor_data)
        until(lambda: seen and seen[-1].valid, "sensing through mavros")
        assert graph.values("/mavros/sys")["heartbeat_rate"] == 2.0
        for topic in ("/mavros/state", "/mavros/battery"):
            until(lambda name=topic: graph.node.count_publishers(name), topic)
        for topic in ("/mavros/altitude", "/mavros/local_position/velocity_local"):
            assert not graph.node.count_publishers(topic), f"{topic} of a plugin that is not in the list"
