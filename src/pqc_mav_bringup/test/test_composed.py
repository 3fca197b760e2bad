# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import rclpy
from rclpy.context import Context

from pqc_mav_bringup import composed
from pqc_mav_bringup.description import BringupError, Process, resolve
from pqc_mav_bringup.systems import DRONE, GCS
from pqc_mav_common import config_file
from pqc_mav_common.siblings import ALLOWED

ROUTER, VEHICLE = "mavros::router::Router", "mavros::uas::UAS"


PROXY_FILE = """
/**:
  pqc_proxy:
    ros__parameters: {keys: /from/file, suite: from-file, drone: {d1: {plain_peer: "127.0.0.1:1"}}, nothing: []}
  other:
    ros__parameters: {keys: /of/another}
/gcs/pqc_proxy:
  ros__parameters: {bind: 192.0.2.1}
"""
MAVROS_FILE = """
/**: {ros__parameters: {plugin_allowlist: [command], tgt: all}}
/mavros/mavros: {ros__parameters: {tgt: one, target_system_id: 9}}
"""


def processes(system=DRONE, **given: str) -> list[Process]:
    return resolve(system, {"proxy": "cpp", "mavlink": "mavros", "keys": "/keys", **given})


def bare(parameters: Mapping[str, object], file: str) -> dict[str, object]:
    """Parameters without those that a shipped file sets."""
    data = config_file.load(file)
    shipped = config_file.parameters(data, "/drone", "pqc_proxy") | config_file.parameters(data, "/mavros", "mavros")
    return {name: value for name, value in parameters.items() if shipped.get(name) != value}


def test_without_it_every_node_has_its_process() -> None:
    every = processes()
    assert composed.split(every, "false") == ([], every)
    composed.refuse({"composed": "false"})


@pytest.mark.parametrize("wanted", composed.CONTAINERS)
def test_proxy_and_mavros_share_a_container(wanted: str) -> None:
    inside, alone = composed.split(processes(mavros_allow="192.0.2.1"), wanted)
    assert [process.package for process in inside] == ["pqc_mav_proxy_cpp", "mavros"]
    assert [process.package for process in alone] == ["pqc_mav_tunnel", "pqc_mav_bringup"]
    container = composed.container(inside, wanted)
    assert (container.package, container.executable) == ("rclcpp_components", composed.CONTAINERS[wanted])
    assert (container.label, container.node, container.parameters) == ("drone/pqc_container", "", {})
    assert container.environment == {ALLOWED: "192.0.2.1"} and container.respawn == inside[0].respawn


def named(arguments: Sequence[str], name: str, namespace: str = "") -> str:
    """The full name that a node gets in a process with these ROS arguments."""
    context = Context()
    rclpy.init(args=["--ros-args", *arguments], context=context)
    node = rclpy.create_node(name, namespace=namespace, context=context, enable_rosout=False)
    full = node.get_fully_qualified_name()
    node.destroy_node()
    context.try_shutdown()
    return full


@pytest.mark.parametrize(("life", "name"), [(1, "pqc_container"), (2, "pqc_container_2")])
def test_what_mavros_makes_in_the_container_is_called_as_in_a_process_of_its_own(life: int, name: str) -> None:
    """Its plugins have nodes of their own, of which the container knows nothing: `cmd` offers /mavros/cmd/arming."""
    inside, _ = composed.split(processes(mavros_namespace="air/mavros"), "true")
    full, rules = composed.names(inside, life)
    container = composed.container(inside, "true")
    arguments = [*rules, "-r", f"__ns:={container.namespace}"]
    assert named(arguments, "ComponentManager") == full == f"/drone/{name}"
    assert named(arguments, "cmd", "/air/mavros/mavros") == "/air/mavros/cmd"


def test_the_plugins_of_mavros_have_its_files() -> None:
    inside, _ = composed.split(processes(config_yaml="/more.yaml"), "true")
    container = composed.container(inside, "true")
    assert container.parameter_files == inside[1].parameter_files and container.parameter_files[-1] == "/more.yaml"
    alone = composed.container(inside[:1], "true")
    assert (alone.namespace, alone.parameter_files) == ("/drone", ())


def test_the_components_are_what_the_processes_would_be() -> None:
    inside, _ = composed.split(processes(tgt_system="7"), "true")
    proxy, router, vehicle = composed.components(inside)
    plugins = inside[1].files[0]
    assert (proxy.plugin, proxy.name, proxy.namespace) == ("pqc_mav_proxy_cpp::ProxyNode", "pqc_proxy", "/drone")
    assert inside[0].parameters.items() <= proxy.parameters.items()
    assert (router.plugin, router.name, vehicle.plugin, vehicle.name) == (ROUTER, "mavros_router", VEHICLE, "mavros")
    assert bare(router.parameters, plugins) == {
        "fcu_urls": ["/dev/ttyACM0:57600"],
        "gcs_urls": ["udp://127.0.0.1:14555@127.0.0.1:14590"],
        "uas_urls": ["/uas7"],
    }
    assert bare(vehicle.parameters, plugins) == {
        "uas_url": "/uas7",
        "target_system_id": 7,
        "target_component_id": 1,
        "system_id": 7,
        "fcu_protocol": "v2.0",
    }
    for component in (router, vehicle):
        assert component.namespace == "/mavros" and "command" in component.parameters["plugin_allowlist"]
        assert component.remaps["/uas7/mavlink_sink"] == "/mavros/uas7/mavlink_sink"


def test_files_are_read_for_each_component_and_arguments_win(tmp_path: Path) -> None:
    (config := tmp_path / "c.yaml").write_text(PROXY_FILE)
    (more := tmp_path / "m.yaml").write_text(MAVROS_FILE)
    inside, _ = composed.split(processes(config=str(config), config_yaml=str(more)), "true")
    proxy, router, vehicle = composed.components(inside)
    assert proxy.parameters == {
        **inside[0].parameters,
        "suite": "from-file",
        "drone.d1.plain_peer": "127.0.0.1:1",
    }
    assert proxy.parameters["keys"] == "/keys"
    assert (router.parameters["tgt"], vehicle.parameters["tgt"]) == ("all", "one")
    assert vehicle.parameters["plugin_allowlist"] == ["command"] and vehicle.parameters["target_system_id"] == 1


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    (config := tmp_path / "c.yaml").write_text("/**:\n  pqc_proxy: [\n")
    inside, _ = composed.split(processes(config=str(config)), "true")
    with pytest.raises(BringupError, match=r"c\.yaml, line \d+: not valid YAML"):
        composed.components(inside)


def test_mavros_on_the_ground_is_not_the_vehicle_there_either() -> None:
    inside, _ = composed.split(processes(GCS), "true")
    _, router, vehicle = composed.components(inside)
    assert vehicle.parameters["system_id"] == 255 and "gcs_urls" not in router.parameters


def test_a_simulated_clock_reaches_the_component_too() -> None:
    inside, _ = composed.split(processes(use_sim_time="true"), "true")
    assert [each.parameters["use_sim_time"] for each in composed.components(inside)] == [True] * 3
    # And the nodes of mavros' plugins, which take what is said to the whole process.
    assert composed.container(inside, "true").parameters == {"use_sim_time": True}
    assert composed.container(composed.split(processes(), "true")[0], "true").parameters == {}


def test_an_empty_list_is_left_to_the_default() -> None:
    inside, _ = composed.split(processes(GCS, drones=",", mavlink="udp"), "isolated")
    assert inside[0].parameters["drones"] == []
    (only,) = composed.components(inside)
    assert "drones" not in only.parameters


def test_what_cannot_be_composed_is_refused() -> None:
    with pytest.raises(BringupError, match="composed:=true needs the proxy in C\\+\\+"):
        composed.split(processes(proxy="py"), "true")
    with pytest.raises(BringupError, match="'composed' is for 'ros2 launch'"):
        composed.refuse({"composed": "isolated"})
