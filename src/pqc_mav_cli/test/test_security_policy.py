# SPDX-License-Identifier: Apache-2.0
"""The SROS 2 policy allows what the nodes of both ends really declare, and no more than they can come to need."""

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
from pqc_mav_bringup.security_policy import ENDS, HEARS, Profile, profiles
from pqc_mav_common.free_ports import free_port
from pqc_mav_common.lifecycle import SUCCESS
from pqc_mav_common.testing import until
from pqc_mav_detect.node import DetectNode
from pqc_mav_policy.node import PqcPolicyNode
from pqc_mav_proxy.node import PqcProxyNode
from pqc_mav_recorder.node import FlightRecorderNode
from pqc_mav_sensing.main import NODES, load

ACTION = "/_action/"
# What depends on how it was started, or comes only while it records.
SOMETIMES = {*HEARS, "/diagnostics", "/drone/*", "/gcs/*"}


@pytest.fixture(scope="module")
def running(keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Node, dict[str, Node]]]:
    """Every node of both ends, configured, and one that looks at them."""
    context = Context()
    rclpy.init(args=[], context=context)
    where = str(tmp_path_factory.mktemp("flights"))

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
        made(FlightRecorderNode, "/drone", path=where),
        made(ControllerNode, "/drone", root=where),
        made(PqcProxyNode, "/gcs", **ground),
        made(FlightRecorderNode, "/gcs", path=where),
        made(AgentNode, "/gcs"),
        made(DetectNode, "/gcs"),
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


def full(profile: Profile, end: str, names: tuple[str, ...]) -> set[str]:
    """Names as the policy's templates expand them."""
    own = f"/{end}/{profile.node}"
    return {name if name[0] == "/" else own + name[1:] if name[0] == "~" else f"/{end}/{name}" for name in names}


def test_every_node_of_both_ends_has_a_profile(running: tuple[Node, dict[str, Node]]) -> None:
    assert set(running[1]) == {f"/{end}/{profile.node}" for end in ENDS for profile in profiles(end)}


@pytest.mark.parametrize(
    ("end", "profile"),
    [(end, profile) for end in ENDS for profile in profiles(end)],
    ids=lambda value: value if isinstance(value, str) else value.node,
)
def test_a_node_may_do_what_it_declares(running: tuple[Node, dict[str, Node]], end: str, profile: Profile) -> None:
    looking, _ = running
    where = profile.node, f"/{end}"

    def seen(kind: str) -> set[str]:
        found: list[tuple[str, list[str]]] = getattr(looking, f"get_{kind}_names_and_types_by_node")(*where)
        return {name for name, _ in found}

    until(lambda: seen("publisher"), f"{where} in the graph")
    served, asked = seen("service"), seen("client")
    published, heard = seen("publisher"), seen("subscriber")
    for names, allowed in (
        (published, full(profile, end, profile.publishes)),
        (served, full(profile, end, profile.serves)),
        (asked, full(profile, end, profile.asks)),
    ):
        assert {name for name in names if ACTION not in name} == allowed
    may_hear = full(profile, end, profile.hears)
    assert {name for name in heard if ACTION not in name} <= may_hear
    unheard = may_hear - heard - SOMETIMES
    assert all(name.startswith("/mavros/") for name in unheard), unheard
    for names, actions in ((served, profile.executes), (asked, profile.calls)):
        assert {name.partition(ACTION)[0] for name in names if ACTION in name} == full(profile, end, actions)
