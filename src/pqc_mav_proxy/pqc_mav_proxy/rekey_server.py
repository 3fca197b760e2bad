# SPDX-License-Identifier: Apache-2.0
"""The two ways to ask a proxy for a rekey: the service `~/rekey`, and the action `~/rekey_action` with its progress.

Both wait in an executor thread until the rekey is done, which may take as long as a slow handshake: the node must be
served by an executor with more threads than REKEYS_AT_ONCE.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from pqc_mav_interfaces import action, srv
from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup

from pqc_mav_common.errors import one_line
from pqc_mav_proxy.conversions import answered
from pqc_mav_proxy.daemon_host import DaemonHost
from pqc_mav_proxy.engine_host import EngineHost

# More than these at once are refused instead of starving the topics.
REKEYS_AT_ONCE = 4
FEEDBACK_S = 1.0
# Phases of an action's feedback, in their order.
PHASES = REQUESTED, HANDSHAKE, INSTALLED = ("requested", "handshake", "installed")
# States of a tunnel in which a handshake runs.
_HANDSHAKING = frozenset({"REKEYING", "HANDSHAKING"})


class RekeyServer:
    """Serves rekeys of the engine that `host()` has, None while the node is not active."""

    def __init__(self, node: Any, host: Callable[[], EngineHost | DaemonHost | None]) -> None:
        self._host = host
        self._places = threading.BoundedSemaphore(REKEYS_AT_ONCE)
        self._lock = threading.Lock()
        self._running: list[_Progress] = []
        # Reentrant, so that further requests are answered "busy" at once.
        group = ReentrantCallbackGroup()
        self._node = node
        self._service = node.create_service(srv.Rekey, "~/rekey", self.serve, callback_group=group)
        # Goals are always accepted: a refused goal carries no sentence, an aborted one does. A handshake cannot be
        # called off, so requests to cancel are refused, which is rclpy's default.
        self._action = ActionServer(
            node, action.Rekey, "~/rekey_action", execute_callback=self._execute, callback_group=group
        )
        self._timer = node.create_timer(FEEDBACK_S, self._remind)
        self._timer.cancel()  # it runs while actions do

    def close(self) -> None:
        """Withdraw the action; the service goes with the node."""
        self._action.destroy()

    def serve(self, request: Any, response: Any) -> Any:
        """Answer a request for a rekey: `response` has the fields of the service's response and the action's result."""
        if not self._places.acquire(blocking=False):
            response.message = (
                f"Busy: {REKEYS_AT_ONCE} rekeys are waiting at this proxy already; try again when one is done."
            )
            return response
        try:
            fields = {field: getattr(request, field) for field in request.get_fields_and_field_types()}
            return answered(response, self._host(), "rekey", "request_rekey", fields)
        finally:
            self._places.release()

    def on_event(self, event: Mapping[str, Any]) -> None:
        """Take the progress of running actions from an event of the engine."""
        phase = None
        if event["event"] == "state" and event["new"] in _HANDSHAKING:
            phase = HANDSHAKE
        elif event["event"] == "handshake" and event["ok"]:
            phase = INSTALLED
        if phase is None:
            return
        with self._lock:
            running = [it for it in self._running if it.drone in ("", event["drone_id"])]
        for progress in running:
            progress.advance(phase)

    def _remind(self) -> None:
        with self._lock:
            running = list(self._running)
        for progress in running:
            progress.publish()

    def _execute(self, goal: Any) -> Any:
        progress = _Progress(goal)
        with self._lock:
            self._running.append(progress)
            self._timer.reset()
        progress.publish()
        try:
            result = self.serve(goal.request, action.Rekey.Result())
        except Exception as error:  # the client must hear of it, and the process goes on
            self._node.get_logger().error(f"rekey: unexpected: {error!r}")
            result = action.Rekey.Result(message=f"Unexpected: {type(error).__name__}: {one_line(error)}")
        finally:
            with self._lock:
                self._running.remove(progress)
                if not self._running:
                    self._timer.cancel()
        if result.ok:
            progress.advance(INSTALLED)  # a quick rekey ends before the engine's events are here
            goal.succeed()
        else:
            goal.abort()
        return result


class _Progress:
    """How far one action is."""

    def __init__(self, goal: Any) -> None:
        self.drone = str(goal.request.drone_id)  # "" where the request names none
        self._goal = goal
        self._began_s = time.monotonic()
        self._lock = threading.Lock()
        self._phase = REQUESTED

    def advance(self, phase: str) -> None:
        """Go on to `phase` and publish it, unless it is passed already: events may come late."""
        with self._lock:
            if PHASES.index(phase) > PHASES.index(self._phase):
                self._phase = phase
                self._send()

    def publish(self) -> None:
        """Publish the phase once more."""
        with self._lock:
            self._send()

    def _send(self) -> None:
        # A goal that has ended takes no feedback; its result has said everything.
        if self._goal.is_active:
            elapsed_s = time.monotonic() - self._began_s
            self._goal.publish_feedback(action.Rekey.Feedback(phase=self._phase, elapsed_s=elapsed_s))
