# SPDX-License-Identifier: Apache-2.0
"""Results, refusals and failures of an action, seen by a caller that polls or waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from pqc_mav_interfaces.action import Rekey
from rclpy.action import ActionServer, GoalResponse
from rclpy.executors import MultiThreadedExecutor

from pqc_mav_common.action_call import ActionCall, PendingCall
from pqc_mav_common.executors import Spun, one_thread

DEADLINE_S = 20.0


class Served:
    """A server that accepts goals unless their suite is "refuse"."""

    def __init__(self, executor: Any) -> None:
        self.node = rclpy.create_node("served")
        self._server = ActionServer(self.node, Rekey, "act", execute_callback=self._execute, goal_callback=self._accept)
        self.call = ActionCall(self.node, Rekey, "act")
        self._executor = executor
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin)
        self._thread.start()
        assert self.call.wait_ready(DEADLINE_S)

    def _accept(self, goal: Any) -> Any:
        return GoalResponse.REJECT if goal.suite == "refuse" else GoalResponse.ACCEPT

    def _execute(self, goal: Any) -> Any:
        goal.publish_feedback(Rekey.Feedback(phase="requested"))
        goal.succeed()
        return Rekey.Result(ok=True, suite=goal.request.suite)

    def close(self) -> None:
        self._executor.shutdown()
        self._thread.join()
        self._server.destroy()
        self.node.destroy_node()


@pytest.fixture(params=["many threads", "one thread"])
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    rclpy.init()
    made = Served(one_thread() if request.param == "one thread" else Spun(MultiThreadedExecutor(3)))
    yield made
    made.close()
    rclpy.try_shutdown()


def test_result_and_feedback(served: Served) -> None:
    heard = threading.Event()
    pending = served.call.begin(Rekey.Goal(suite="x"), lambda feedback: heard.set())
    assert pending.wait(DEADLINE_S) and pending.done()
    assert pending.result.ok and pending.result.suite == "x" and not pending.failure
    assert heard.wait(DEADLINE_S)


def test_a_refused_goal_is_a_failure(served: Served) -> None:
    pending = served.call.begin(Rekey.Goal(suite="refuse"))
    assert pending.wait(DEADLINE_S)
    assert pending.result is None and pending.failure == "The goal was refused."


def test_nobody_serves_it(served: Served) -> None:
    call = ActionCall(served.node, Rekey, "nothing_here")
    assert not call.ready() and not call.wait_ready(0.1)


def test_before_the_end_there_is_neither() -> None:
    pending = PendingCall()
    assert not pending.done() and not pending.wait(0.0)
    assert pending.result is None and pending.failure == ""
