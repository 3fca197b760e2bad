# SPDX-License-Identifier: Apache-2.0
"""Every node of both ends as one process, configured: what they declare in the graph of ROS is what they have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node

from pqc_mav_bench.agent_node import AgentNode
from pqc_mav_bench.controller_node import ControllerNode
from pqc_mav_common.free_ports import free_port, held_domain
from pqc_mav_common.lifecycle import SUCCESS
from pqc_mav_detect.node import DetectNode
from pqc_mav_policy.node import PqcPolicyNode
from pqc_mav_proxy.guard_node import GuardNode
from pqc_mav_proxy.node import PqcProxyNode
from pqc_mav_recorder.node import FlightRecorderNode
from pqc_mav_sensing.main import NODES, load


@pytest.fixture(scope="module")
def running(keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Node, dict[str, Node]]]:
    """Every node of both ends, configured, and one that looks at them.

    In a domain of their own: of two nodes with one name, a graph may describe the ghost of an ended process.
    """
    with held_domain() as number:
        yield from _started(number, keys, str(tmp_path_factory.mktemp("flights")))


def _started(domain: int, keys: Path, where: str) -> Iterator[tuple[Node, dict[str, Node]]]:
    context = Context()
    rclpy.init(args=[], context=context, domain_id=domain)

    def made(kind: Any, namespace: str, **values: object) -> Any:
        arguments = ["--ros-args", "-r", f"__ns:={namespace}"]
        for name, value in values.items():
            arguments += ["-p", f"{name}:={value}"]
        return kind(context=context, cli_args=arguments, use_global_arguments=False)

    port = free_port()
    air = {"role": "drone", "keys": keys / "drones" / "d1", "drone_id": "d1", "peer": "127.0.0.1", "data_port": port}
    ground = {"role": "gcs", "keys": keys / "gcs", "drones": "[d1]", "data_port": port}
    nodes: list[Any] = [
        made(PqcProxyNode, "/drone", **air),
        *(made(sense.make, "/drone") for sense in load(name for name in NODES if name != "battery")),
        made(load(["battery"])[0].make, "/drone", tap="127.0.0.1:0"),
        made(PqcPolicyNode, "/drone", shed_kbit=64),  # which has it ask the proxy to shape
        made(DetectNode, "/drone"),
        made(GuardNode, "/drone"),
        made(FlightRecorderNode, "/drone", path=where),
        made(ControllerNode, "/drone", root=where),
        made(PqcProxyNode, "/gcs", **ground),
        made(FlightRecorderNode, "/gcs", path=where),
        made(AgentNode, "/gcs"),
        made(DetectNode, "/gcs"),
        made(GuardNode, "/gcs"),
    ]
    for node in nodes:
        assert node.trigger_configure() == SUCCESS, node.failure
    (controller,) = (node for node in nodes if isinstance(node, ControllerNode))
    looking = Node("looking", context=context)
    yield looking, {node.get_fully_qualified_name(): node for node in (*nodes, controller.observer)}
    for node in nodes:
        node.close()
    for node in (*nodes, controller.observer, looking):
        node.destroy_node()
    rclpy.try_shutdown(context=context)
