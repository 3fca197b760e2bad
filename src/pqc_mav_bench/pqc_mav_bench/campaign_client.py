# SPDX-License-Identifier: Apache-2.0
"""Asks a controller for a campaign and waits for its end: the action's client."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pqc_mav_interfaces.action import RunCampaign
from rcl_interfaces.srv import ListParameters

from pqc_mav_bench.errors import BenchError
from pqc_mav_bench.options import CampaignOptions
from pqc_mav_bench.ros_call import RosCall
from pqc_mav_common.action_client import PatientActionClient
from pqc_mav_common.key_values import to_key_values

SERVER_S = 60.0  # starting Python, ROS and the crypto library takes seconds, on a small board many
ANSWER_S = 30.0
POLL_S = 0.2
MEET_S = 1.0  # one question of several that are asked until the server answers
STOPPED = "Stopped before the campaign began."


@dataclass(frozen=True)
class Outcome:
    """How a campaign ended."""

    ok: bool
    message: str
    folder: Path | None
    passed: int
    failed: int


class CampaignClient:
    """Talks to the controller `name` ("/drone/bench_controller"). `node` spins elsewhere."""

    def __init__(self, node: Any, name: str = "/drone/bench_controller") -> None:
        self._name = name
        self._client = PatientActionClient(node, RunCampaign, f"{name}/run_campaign")
        # Made after the action's client: whoever has met this one has met all of that one, because DDS announces the
        # endpoints of a process in order.
        self._greeting = RosCall(node, ListParameters, f"{name}/list_parameters")

    def run(
        self,
        options: CampaignOptions | None,
        resume: Path | None,
        on_feedback: Callable[[Any], None],
        stop: threading.Event,
        gone: threading.Event | None = None,
    ) -> Outcome:
        """Runs (or resumes) a campaign to its end. Setting `stop` cancels it, which leaves it resumable.

        Whoever knows that the controller has ended sets `gone`: ROS may take half a minute to see it. Raises
        BenchError when the controller is not there, refuses or is lost.
        """
        self._wait_for_server(stop)
        goal = RunCampaign.Goal(
            options=[] if options is None else to_key_values(options.model_dump(mode="json")),
            resume=resume is not None,
            run_directory="" if resume is None else str(resume.resolve()),
        )
        handle = self._wait(
            self._client.send_goal_async(goal, feedback_callback=lambda message: on_feedback(message.feedback)),
            ANSWER_S,
        )
        if not handle.accepted:
            raise BenchError(f"The controller {self._name} runs another campaign.")
        future = handle.get_result_async()
        asked = False
        while not _done_within(future, POLL_S):
            if stop.is_set() and not asked:
                asked = True
                handle.cancel_goal_async()
            if (gone is not None and gone.is_set()) or not self._client.server_is_ready():
                raise BenchError(f"The controller {self._name} is lost; 'pqcmav bench resume' continues the campaign.")
        result = future.result().result
        folder = Path(result.run_directory) if result.run_directory else None
        return Outcome(bool(result.ok), str(result.message), folder, int(result.passed), int(result.failed))

    def _wait_for_server(self, stop: threading.Event) -> None:
        waited = 0.0
        while not self._client.wait_for_server(timeout_sec=POLL_S):
            waited += POLL_S
            if stop.is_set():
                raise BenchError(STOPPED)
            if waited >= SERVER_S:
                raise BenchError(f"No controller {self._name} was found within {SERVER_S:g} s; is it running?")
        self._meet(stop)

    def _meet(self, stop: threading.Event) -> None:
        """Waits until the server knows who waits for its answers.

        This end sees the server first, and rmw_fastrtps drops an answer whose reader it has not met 0.1 s later. A
        second question whether there are parameters costs nothing; a goal can be sent only once.
        """
        until = time.monotonic() + SERVER_S
        while time.monotonic() < until:
            if stop.is_set():
                raise BenchError(STOPPED)
            try:
                self._greeting(ListParameters.Request(), MEET_S)
                return
            except TimeoutError:
                continue
        raise BenchError(f"The controller {self._name} is there, but answered no question within {SERVER_S:g} s.")

    def _wait(self, future: Any, limit_s: float) -> Any:
        if not _done_within(future, limit_s):
            raise BenchError(f"The controller {self._name} did not answer within {limit_s:g} s.")
        return future.result()


def _done_within(future: Any, limit_s: float) -> bool:
    done = threading.Event()
    future.add_done_callback(lambda _future: done.set())
    return done.wait(limit_s)
