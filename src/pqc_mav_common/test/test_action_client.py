# SPDX-License-Identifier: Apache-2.0
"""An answer that comes before the question is noted, which rclpy loses; a client that is looked at while it is made."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from pqc_mav_interfaces.action import Rekey
from rclpy.action import ActionServer
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node

from pqc_mav_common.action_client import PatientActionClient
from pqc_mav_common.executors import Spun, one_thread
from pqc_mav_common.testing import until

NOTED_S = 0.5


class Slow:
    """The part of a client below Python; from sending to noting takes a while, as where another thread has its turn."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name)

    def send_goal_request(self, request: Any) -> int:
        return self._later(self._handle.send_goal_request(request))

    def send_result_request(self, request: Any) -> int:
        return self._later(self._handle.send_result_request(request))

    @staticmethod
    def _later(number: int) -> int:
        time.sleep(NOTED_S)
        return number


@pytest.fixture(params=["many threads", "one thread"])
def node(request: pytest.FixtureRequest) -> Iterator[Node]:
    """A node with a server; it is spun in another thread."""
    rclpy.init()
    made = rclpy.create_node("served")

    def execute(goal: Any) -> Any:
        goal.succeed()
        return Rekey.Result(ok=True)

    server = ActionServer(made, Rekey, "act", execute_callback=execute)
    executor = one_thread() if request.param == "one thread" else Spun(MultiThreadedExecutor(3))
    executor.add_node(made)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    yield made
    executor.shutdown()
    thread.join()
    server.destroy()
    made.destroy_node()
    rclpy.try_shutdown()


def test_no_answer_is_lost(node: Node) -> None:
    client = PatientActionClient(node, Rekey, "act")
    assert client.wait_for_server(timeout_sec=20.0)
    client._client_handle = Slow(client._client_handle)
    sent = client.send_goal_async(Rekey.Goal())
    until(sent.done, "the goal's acceptance")
    result = sent.result().get_result_async()
    until(result.done, "the result")
    assert result.result().result.ok


def test_an_executor_may_look_at_a_client_that_is_being_made(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    add = node.add_waitable

    def add_and_look(waitable: Any) -> None:
        add(waitable)
        looks.append(waitable.get_num_entities())

    monkeypatch.setattr(node, "add_waitable", add_and_look)
    PatientActionClient(node, Rekey, "another")
    assert len(looks) == 1
