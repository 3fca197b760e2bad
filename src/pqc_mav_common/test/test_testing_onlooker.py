# SPDX-License-Identifier: Apache-2.0
"""What an onlooker sees of another node; its lifecycle is in test_lifecycle.py, `run_twice` where nodes are."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from pqc_mav_common.executors import Spun
from pqc_mav_common.testing import until
from pqc_mav_common.testing_onlooker import Onlooker


@pytest.fixture
def node() -> Iterator[Node]:
    """A node with a parameter, a topic and a service."""
    context = Context()
    rclpy.init(args=[], context=context)
    made = Node("seen", namespace="/x", context=context)
    made.declare_parameter("a.b", ["c"])
    said = made.create_publisher(String, "~/said", 10)
    made.create_timer(0.05, lambda: said.publish(String(data="one")))
    made.create_service(Trigger, "~/ask", lambda _, answer: setattr(answer, "message", "two") or answer)
    executor = Spun(SingleThreadedExecutor(context=context))
    executor.add_node(made)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    yield made
    executor.shutdown()
    thread.join()
    made.destroy_node()
    context.try_shutdown()


def test_an_onlooker_sees_nodes_and_their_parameters(node: Node) -> None:
    with Onlooker() as onlooker:
        until(lambda: onlooker.sees("/x/seen"), "the node")
        assert not onlooker.sees("/seen")
        assert onlooker.values("/x/seen")["a.b"] == ["c"]
        assert onlooker.put("/x/seen", "a.b", ["d"]).successful
        assert "/x/seen:\n  ros__parameters:\n    a:\n      b:\n      - d\n" in onlooker.dump("/x/seen")
        assert not onlooker.put("/x/seen", "b", 1).successful


def test_an_onlooker_hears_topics_and_asks_services(node: Node) -> None:
    with Onlooker() as onlooker:
        heard = onlooker.collect(String, "/x/seen/said", 10)
        assert onlooker.call(Trigger, "/x/seen/ask").message == "two"
        until(lambda: heard, "what it says")
        assert {message.data for message in heard} == {"one"}


def test_what_an_onlooker_does_not_need_any_more_is_destroyed_by_the_thread_that_spins(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Destroyed by another one, it ended the executor after 2,853 rounds of this, and the onlooker heard nothing."""
    with Onlooker() as onlooker:
        destroy, threads = onlooker.node.destroy_subscription, []

        def noted(subscription: object) -> bool:
            threads.append(threading.current_thread())
            return bool(destroy(subscription))

        monkeypatch.setattr(onlooker.node, "destroy_subscription", noted)
        assert onlooker.newest(String, "/x/seen/said", 10)[0].data == "one"
        assert len(threads) == 1 and threads[0] is not threading.current_thread()
        heard = onlooker.collect(String, "/x/seen/said", 10)
        until(lambda: heard, "that it still hears")
