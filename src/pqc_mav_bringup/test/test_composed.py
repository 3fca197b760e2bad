# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from pqc_mav_bringup import composed
from pqc_mav_bringup.description import BringupError, Process, resolve
from pqc_mav_bringup.systems import DRONE, GCS
from pqc_mav_common.siblings import ALLOWED

ROUTER, VEHICLE = "mavros::router::Router", "mavros::uas::UAS"


def processes(system=DRONE, **given: str) -> list[Process]:
    return resolve(system, {"proxy": "cpp", "mavlink": "mavros", "keys": "/keys", **given})


def test_without_it_every_node_has_its_process() -> None:
    every = processes()
    assert composed.split(every, "false") == ([], every)
    composed.refuse({"composed": "false"})


@pytest.mark.parametrize("wanted", composed.CONTAINERS)
def test_proxy_and_mavros_share_a_container(wanted: str) -> None:
    inside, alone = composed.split(processes(mavros_allow="192.0.2.1"), wanted)
    assert [process.package for process in inside] == ["pqc_mav_proxy_cpp", "mavros"]
    assert [process.package for process in alone] == ["pqc_mav_bringup"]
    container = composed.container(inside, wanted)
    assert (container.package, container.executable) == ("rclcpp_components", composed.CONTAINERS[wanted])
    assert (container.label, container.node, container.parameters) == ("drone/pqc_container", "pqc_container", {})
    assert container.environment == {ALLOWED: "192.0.2.1"} and container.respawn == inside[0].respawn


def test_the_components_are_what_the_processes_would_be() -> None:
    inside, _ = composed.split(processes(tgt_system="7", config="/c.yaml", config_yaml="/m.yaml"), "true")
    proxy, router, vehicle = composed.components(inside)
    assert (proxy.plugin, proxy.name, proxy.namespace) == ("pqc_mav_proxy_cpp::ProxyNode", "pqc_proxy", "/drone")
    assert proxy.files == ("/c.yaml",) and proxy.parameters == inside[0].parameters
    assert (router.plugin, router.name, vehicle.plugin, vehicle.name) == (ROUTER, "mavros_router", VEHICLE, "mavros")
    assert router.parameters == {
        "fcu_urls": ["/dev/ttyACM0:57600"],
        "gcs_urls": ["udp://127.0.0.1:14555@127.0.0.1:14590"],
        "uas_urls": ["/uas7"],
    }
    assert vehicle.parameters == {
        "uas_url": "/uas7",
        "target_system_id": 7,
        "target_component_id": 1,
        "system_id": 7,
        "fcu_protocol": "v2.0",
    }
    for component in (router, vehicle):
        assert component.namespace == "/mavros" and Path(component.files[-1]) == Path("/m.yaml")
        assert component.remaps["/uas7/mavlink_sink"] == "/mavros/uas7/mavlink_sink"


def test_mavros_on_the_ground_is_not_the_vehicle_there_either() -> None:
    inside, _ = composed.split(processes(GCS), "true")
    _, router, vehicle = composed.components(inside)
    assert vehicle.parameters["system_id"] == 255 and "gcs_urls" not in router.parameters


def test_a_simulated_clock_reaches_the_component_too() -> None:
    inside, _ = composed.split(processes(use_sim_time="true"), "true")
    assert composed.components(inside)[0].parameters["use_sim_time"] is True


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
