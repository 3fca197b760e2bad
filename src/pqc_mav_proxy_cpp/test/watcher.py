# SPDX-License-Identifier: Apache-2.0
"""A node that sees proxies from outside: their names in the graph, their messages, their answers."""

from __future__ import annotations

import threading
import time
from typing import Any

import rclpy
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

from pqc_mav_common.testing import until

LIMIT_S = 60.0
# A service that met this node a moment ago may answer before it knows the way back: that answer is lost.
LOST_S = 10.0
# What rclpy and rclcpp each declare and offer for every node of theirs.
_OF_ROS = ("use_sim_time", "start_type_description_service", "qos_overrides.")


def answered(pending: Any) -> bool:
    """Whether an answer came before it counts as lost."""
    end = time.monotonic() + LOST_S
    while not pending.done() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(pending.done())


class Watcher:
    """Use `close` at the end."""

    def __init__(self) -> None:
        self._context = Context()
        rclpy.init(args=[], context=self._context)
        self.node = Node("watcher", context=self._context, enable_rosout=False)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin)
        self._thread.start()
        self._clients: dict[tuple[Any, str], Any] = {}

    def close(self) -> None:
        """Leave the graph."""
        self._executor.shutdown()
        self._thread.join()
        self.node.destroy_node()
        self._context.try_shutdown()

    def collect(self, kind: Any, topic: str, profile: Any) -> list[Any]:
        """The messages of a topic from now on."""
        seen: list[Any] = []
        self.node.create_subscription(kind, topic, seen.append, profile)
        return seen

    def ask(self, kind: Any, service: str, request: Any | None = None) -> Any:
        """A pending answer of a service."""
        key = (kind, service)
        if key not in self._clients:
            self._clients[key] = self.node.create_client(kind, service)
        client = self._clients[key]
        assert client.wait_for_service(LIMIT_S), f"nobody offers {service}"
        return client.call_async(kind.Request() if request is None else request)

    def call(self, kind: Any, service: str, request: Any | None = None) -> Any:
        """The answer of a service."""
        pending = self.ask(kind, service, request)
        until(pending.done, f"an answer of {service}", LIMIT_S)
        return pending.result()

    def sees(self, name: str) -> bool:
        """Whether the graph has a node of this full name."""
        found = self.node.get_node_names_and_namespaces()
        return name in (f"{namespace.rstrip('/')}/{node}" for node, namespace in found)

    def state(self, name: str) -> str:
        """The state of its lifecycle; asked again where an answer is lost."""
        end = time.monotonic() + LIMIT_S
        while not answered(pending := self.ask(GetState, f"{name}/get_state")):
            assert time.monotonic() < end, f"{name} does not tell its state"
        return str(pending.result().current_state.label)

    def change(self, name: str, transition: str) -> bool:
        """Whether a transition succeeded: by the answer, or where that is lost by the state."""
        before = self.state(name)
        request = ChangeState.Request()
        request.transition.label = transition
        pending = self.ask(ChangeState, f"{name}/change_state", request)
        return bool(pending.result().success) if answered(pending) else self.state(name) != before

    def transitions(self, name: str) -> list[tuple[str, str, str]]:
        """The whole graph of its lifecycle."""
        answer = self.call(GetAvailableTransitions, f"{name}/get_transition_graph")
        described = answer.available_transitions
        return [(each.start_state.label, each.transition.label, each.goal_state.label) for each in described]

    def parameters(self, name: str) -> dict[str, tuple[Any, Any]]:
        """Descriptor and value of each parameter that is the node's own."""
        listed = self.call(ListParameters, f"{name}/list_parameters").result.names
        names = sorted(each for each in listed if not each.startswith(_OF_ROS))
        request = DescribeParameters.Request(names=names)
        described = self.call(DescribeParameters, f"{name}/describe_parameters", request).descriptors
        values = self.call(GetParameters, f"{name}/get_parameters", GetParameters.Request(names=names)).values
        assert len(described) == len(values) == len(names)
        found = zip(described, map(parameter_value_to_python, values), strict=True)
        return {each: (descriptor, value) for each, (descriptor, value) in zip(names, found, strict=True)}

    def topics(self, name: str) -> dict[str, tuple[str, str, str]]:
        """What the node publishes: type, reliability, durability; "~" stands for the node."""
        space, _, base = name.rpartition("/")
        found = {}
        for topic, types in self.node.get_publisher_names_and_types_by_node(base, space or "/"):
            for each in self.node.get_publishers_info_by_topic(topic):
                if (each.node_namespace, each.node_name) == (space, base):
                    qos = each.qos_profile
                    own = topic.replace(name, "~", 1)
                    found[own] = (types[0], qos.reliability.name, qos.durability.name)
        return found

    def services(self, name: str) -> dict[str, str]:
        """What the node offers, without its actions."""
        space, _, base = name.rpartition("/")
        found = self.node.get_service_names_and_types_by_node(base, space or "/")
        return {service.replace(name, "~", 1): types[0] for service, types in found if "/_action/" not in service}

    def actions(self, name: str) -> dict[str, str]:
        """The actions of the node."""
        space, _, base = name.rpartition("/")
        found = get_action_server_names_and_types_by_node(self.node, base, space or "/")
        return {action.replace(name, "~", 1): types[0] for action, types in found}
