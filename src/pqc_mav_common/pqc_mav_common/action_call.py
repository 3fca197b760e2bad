# SPDX-License-Identifier: Apache-2.0
"""A call of an action whose caller polls or waits for the result in one place."""

import threading
from collections.abc import Callable
from typing import Any


class PendingCall:
    """One goal on its way. `done` and `wait` may be called from any thread; the executor delivers the result."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self.result: Any = None  # the action's; None before the end and after a failure
        self.failure = ""  # why there is no result, as a sentence; "" if there is one

    def done(self) -> bool:
        """Whether there is a result or a failure."""
        return self._done.is_set()

    def wait(self, limit_s: float) -> bool:
        """Wait for the result or a failure, at most `limit_s`; tell whether there is one."""
        return self._done.wait(limit_s)

    def _accepted(self, future: Any) -> None:
        if future.exception() is not None:
            self._end(failure=f"The call failed: {future.exception()}.")
        elif not future.result().accepted:
            self._end(failure="The goal was refused.")
        else:
            future.result().get_result_async().add_done_callback(self._finished)

    def _finished(self, future: Any) -> None:
        if future.exception() is not None:
            self._end(failure=f"The call failed: {future.exception()}.")
        else:
            self._end(result=future.result().result)

    def _end(self, result: Any = None, failure: str = "") -> None:
        self.result, self.failure = result, failure
        self._done.set()


class ActionCall:
    """A client of one action.

    It lasts as long as its node: an executor of rclpy that finds a client withdrawn while it looks at it ends.
    """

    def __init__(self, node: Any, kind: Any, name: str) -> None:
        from pqc_mav_common.action_client import PatientActionClient

        self.name = name
        self._client = PatientActionClient(node, kind, name)

    def ready(self) -> bool:
        """Whether a server offers the action now."""
        return bool(self._client.server_is_ready())

    def wait_ready(self, limit_s: float) -> bool:
        """Wait for a server, at most `limit_s`; tell whether there is one."""
        return bool(self._client.wait_for_server(timeout_sec=limit_s))

    def begin(self, goal: Any, on_feedback: Callable[[Any], None] | None = None) -> PendingCall:
        """Send a goal. `on_feedback` is called on the executor's thread with each feedback message."""
        pending = PendingCall()
        heard = None if on_feedback is None else lambda message: on_feedback(message.feedback)
        self._client.send_goal_async(goal, feedback_callback=heard).add_done_callback(pending._accepted)
        return pending
