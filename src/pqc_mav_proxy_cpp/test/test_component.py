# SPDX-License-Identifier: Apache-2.0
"""The proxy in C++ as a component of a container, with one executor thread, several, or one for each node."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces.msg import TunnelStatus
from pqc_mav_interfaces.srv import Rekey
from proxies import NODE, PERIOD_S, SKIPPED, command, guard
from rclpy.parameter import Parameter
from watcher import Watcher

from pqc_mav_common import qos
from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import GONE_S, Running, until
from pqc_mav_common.testing_proxies import HOST, drone_parameters, gcs_parameters
from pqc_mav_common.testing_traffic import Traffic

CONTAINERS = ("component_container", "component_container_mt", "component_container_isolated")


def container(name: str) -> Running:
    """A running container."""
    command("cpp")  # skips without it
    for prefix in os.environ["AMENT_PREFIX_PATH"].split(os.pathsep):
        program = Path(prefix) / "lib" / "rclcpp_components" / name
        if program.is_file():
            return Running([str(program), "--ros-args", "-r", f"__node:={name}"])
    pytest.skip(SKIPPED)


def load(watcher: Watcher, within: str, space: str, parameters: dict[str, Any]) -> Any:
    """The container's answer."""
    from composition_interfaces.srv import LoadNode

    request = LoadNode.Request(package_name="pqc_mav_proxy_cpp", plugin_name="pqc_mav_proxy_cpp::ProxyNode")
    request.node_namespace = f"/{space}"
    request.parameters = [Parameter(name, value=value).to_parameter_msg() for name, value in parameters.items()]
    return watcher.call(LoadNode, f"/{within}/_container/load_node", request)


@pytest.mark.parametrize("name", CONTAINERS)
def test_both_ends_in_one_container(name: str, keys: Path, watcher: Watcher) -> None:
    process = container(name)
    from composition_interfaces.srv import UnloadNode

    traffic = Traffic(period_s=PERIOD_S)
    gcs = gcs_parameters(keys, ("d1",), **{"drone.d1.plain_peer": f"{HOST}:{traffic.ground_port}"})
    drone = drone_parameters(keys, gcs["data_port"], plain_bind=f"{HOST}:{free_port()}")
    short = name.removeprefix("component_")
    try:
        ends = {end: f"/{short}_{end}/{NODE}" for end in ("gcs", "drone")}
        loaded = {
            end: load(watcher, name, f"{short}_{end}", parameters)
            for end, parameters in (("gcs", gcs), ("drone", drone))
        }
        assert all(each.success for each in loaded.values()), loaded
        assert {end: each.full_node_name for end, each in loaded.items()} == ends
        statuses = {end: watcher.collect(TunnelStatus, f"{node}/status", qos.latched(2)) for end, node in ends.items()}
        until(lambda: all(seen and seen[-1].state == TunnelStatus.UP for seen in statuses.values()), "both up")
        traffic.start(int(drone["plain_bind"].partition(":")[2]))
        for end, drone_id in (("drone", ""), ("gcs", "d1")):
            answer = watcher.call(Rekey, f"{ends[end]}/rekey", Rekey.Request(drone_id=drone_id))
            assert answer.ok, answer.message
        until(lambda: traffic.sent > 50, "some traffic")
        assert traffic.lost() == (0, 0)
        request = UnloadNode.Request(unique_id=loaded["drone"].unique_id)
        assert watcher.call(UnloadNode, f"/{name}/_container/unload_node", request).success
        until(lambda: statuses["gcs"][-1].state == TunnelStatus.DOWN, "the drone's goodbye")
        assert process.end(signal.SIGINT) == 0, process.lines
    finally:
        traffic.stop()
        process.kill()


def test_a_guard_outside_sees_what_the_container_holds(keys: Path, watcher: Watcher, tmp_path: Path) -> None:
    """Into which nobody may look, once there is a proxy in it."""
    process = container(CONTAINERS[1])
    watching: list[Running] = []

    def seen() -> dict[str, Any]:
        said = [each for array in arrays for each in array.status if each.name == f"watched/{NODE}: sockets"]
        return {each.key: each.value for each in said[-1].values} if said else {"unseen": "all"}

    try:
        arrays = watcher.collect(DiagnosticArray, "/diagnostics", qos.periodic(8))
        parameters = gcs_parameters(keys, bind="", control_socket=str(tmp_path / "gcs.sock"))
        assert load(watcher, CONTAINERS[1], "watched", parameters).success
        watching = guard("cpp", "watched", tmp_path)
        until(lambda: seen()["unseen"] == "", "the guard's look")
        assert int(seen()["processes"]) >= 2 and seen()["open"] == "", "the tunnel's port is meant to be open"
        process.wait_for("Nobody looks for ways around the tunnel here")  # as far as the component knows
    finally:
        for each in (process, *watching):
            each.kill()


def test_a_refused_start_fails_the_loading_with_its_sentence(keys: Path, watcher: Watcher) -> None:
    process = container(CONTAINERS[1])
    try:
        answer = load(watcher, CONTAINERS[1], "refused", gcs_parameters(keys, dscp=64))
        assert not answer.success and "'dscp' is 64" in answer.error_message, answer
        until(lambda: not watcher.sees(f"/refused/{NODE}"), "gone from the graph", GONE_S)
    finally:
        process.kill()
