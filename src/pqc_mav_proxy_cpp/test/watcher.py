# SPDX-License-Identifier: Apache-2.0
"""What a proxy shows to ROS from outside: parameters, topics, services, actions, and the graph of its lifecycle."""

from __future__ import annotations

from typing import Any

from lifecycle_msgs.srv import GetAvailableTransitions
from rcl_interfaces.srv import DescribeParameters
from rclpy.action import get_action_server_names_and_types_by_node

from pqc_mav_common.testing_onlooker import Onlooker

# What rclpy and rclcpp each declare and offer for every node of theirs.
_OF_ROS = ("use_sim_time", "start_type_description_service", "qos_overrides.")


class Watcher(Onlooker):
    """An onlooker that takes stock of a node."""

    def transitions(self, name: str) -> list[tuple[str, str, str]]:
        """The whole graph of its lifecycle."""
        answer = self.call(GetAvailableTransitions, f"{name}/get_transition_graph")
        described = answer.available_transitions
        return [(each.start_state.label, each.transition.label, each.goal_state.label) for each in described]

    def parameters(self, name: str) -> dict[str, tuple[Any, Any]]:
        """Descriptor and value of each parameter that is the node's own."""
        values = {each: value for each, value in self.values(name).items() if not each.startswith(_OF_ROS)}
        request = DescribeParameters.Request(names=list(values))
        described = self.call(DescribeParameters, f"{name}/describe_parameters", request).descriptors
        return {each: (descriptor, values[each]) for each, descriptor in zip(values, described, strict=True)}

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
