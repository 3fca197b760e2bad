# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import rclpy
from std_msgs.msg import Empty

from pqc_mav_common.diagnostics import Diagnostic, Level
from pqc_mav_common.testing import until
from pqc_mav_proxy.mavros_graph import LASTING_S, Link, MavrosGraph, links, writers

AIR, GROUND = "/mavros", "/gcs/mavros"


def mavros(namespace: str, place: str) -> list[tuple[str, list[str]]]:
    """What one mavros writes: its router towards the vehicle's node, that one towards the router."""
    return [
        (f"{place}/mavlink_source", [f"{namespace}/mavros_router"]),
        (f"{place}/mavlink_sink", [f"{namespace}/mavros"]),
    ]


def judge(*written: list[tuple[str, list[str]]], at_s: float = 0.0, graph: MavrosGraph | None = None) -> Diagnostic:
    together: dict[str, list[str]] = {}
    for topic, names in (each for every in written for each in every):
        together.setdefault(topic, []).extend(names)
    return (graph or MavrosGraph()).diagnostic(at_s, links(together.items()))


def test_who_writes_where() -> None:
    noise = [("/uas1/mavlink_source_x", ["/x"]), ("/uasX/mavlink_sink", ["/x"]), ("/mavros/state", ["/mavros/mavros"])]
    assert links([*mavros(AIR, "/uas7"), *mavros(GROUND, "/gcs/mavros/uas1"), *noise]) == {
        "/uas7": Link(7, False, ["/mavros/mavros_router"], ["/mavros/mavros"]),
        "/gcs/mavros/uas1": Link(1, True, ["/gcs/mavros/mavros_router"], ["/gcs/mavros/mavros"]),
    }


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ([], "no mavros in this ROS domain"),
        ([mavros(AIR, "/uas1")], "/mavros/mavros_router: no other mavros in reach"),
        # Ours at both ends, and two stock ones for two vehicles.
        ([mavros(AIR, "/mavros/uas1"), mavros(GROUND, "/gcs/mavros/uas1")], "no other mavros in reach"),
        ([mavros("/a", "/uas1"), mavros("/b", "/uas2")], "no other mavros in reach"),
    ],
)
def test_each_for_itself_is_fine(written: list[list[tuple[str, list[str]]]], said: str) -> None:
    made = judge(*written)
    assert made.level is Level.OK and made.subcomponent == "mavros" and said in made.message


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            [mavros(AIR, "/uas1"), mavros(GROUND, "/uas1")],
            "/gcs/mavros/mavros_router and /mavros/mavros_router share /uas1 and command the vehicle past the tunnel",
        ),
        # A stranger's node without a router of its own.
        ([mavros(AIR, "/mavros/uas1"), mavros("/x", "/mavros/uas1")[1:]], "/mavros/mavros and /x/mavros share"),
        (
            [mavros(AIR, "/mavros/uas1"), mavros("/x", "/uas1")],
            "/x/mavros_router is another mavros for vehicle 1, at /uas1 beside /mavros/uas1",
        ),
    ],
)
def test_another_mavros_in_reach_is_an_error(written: list[list[tuple[str, list[str]]]], said: str) -> None:
    made = judge(*written)
    assert made.level is Level.ERROR and said in made.message and "another ROS_DOMAIN_ID" in made.message


def test_two_of_one_name_are_an_error_once_they_last() -> None:
    """Its predecessor is seen for a while after a mavros was killed."""
    graph, two, one = MavrosGraph(), [mavros(AIR, "/uas1")] * 2, [mavros(AIR, "/uas1")]
    times = [(0.0, two, 0), (20.0, two, 0), (25.0, one, 0), (26.0, two, 0), (26.0 + LASTING_S, two, 2), (90.0, one, 0)]
    for at_s, written, level in times:
        assert judge(*written, at_s=at_s, graph=graph).level == level, at_s
    made = judge(*two, at_s=100.0, graph=graph)
    assert made.level is Level.OK
    assert "2 nodes /mavros/mavros_router" in judge(*two, at_s=100.0 + LASTING_S, graph=graph).message


@pytest.fixture
def context() -> Iterator[rclpy.Context]:
    made = rclpy.Context()
    rclpy.init(context=made)
    yield made
    made.try_shutdown()


def test_the_graph_of_real_nodes(context: rclpy.Context) -> None:
    onlooker = rclpy.create_node("onlooker", context=context)
    air, ground = (rclpy.create_node("mavros_router", namespace=n, context=context) for n in (AIR, GROUND))
    for node in (air, ground):
        node.create_publisher(Empty, "/uas1/mavlink_source", 1)
    own = ["--ros-args", "-r", "/uas1/mavlink_source:=/third/uas1/mavlink_source"]
    third = rclpy.create_node("mavros_router", namespace="/third", context=context, cli_args=own)
    third.create_publisher(Empty, "/uas1/mavlink_source", 1)
    until(
        lambda: (
            links(writers(onlooker))
            == {
                "/uas1": Link(1, False, ["/gcs/mavros/mavros_router", "/mavros/mavros_router"]),
                "/third/uas1": Link(1, True, ["/third/mavros_router"]),
            }
        ),
        "the three routers",
    )
    for node in (onlooker, air, ground, third):
        node.destroy_node()


def test_a_writer_whose_node_is_not_known_yet_counts_and_is_not_shown_as_rmw_has_it() -> None:
    class Graph:
        def get_topic_names_and_types(self) -> list[tuple[str, list[str]]]:
            return [("/uas1/mavlink_source", []), ("/other", [])]

        def get_publishers_info_by_topic(self, topic: str) -> list[SimpleNamespace]:
            assert topic == "/uas1/mavlink_source"
            return [
                SimpleNamespace(node_namespace="/mavros", node_name="mavros_router"),
                SimpleNamespace(node_namespace="_NODE_NAMESPACE_UNKNOWN_", node_name="_NODE_NAME_UNKNOWN_"),
            ]

    made = MavrosGraph().diagnostic(0.0, links(writers(Graph())))
    assert made.level is Level.ERROR
    assert made.message.startswith("/mavros/mavros_router and a node without a name so far share /uas1 ")
