# SPDX-License-Identifier: Apache-2.0
"""Asks a controller for a campaign and waits for its end: the action's client."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pqc_mav_interfaces.action import RunCampaign
from rclpy.action import ActionClient

from pqc_mav_bench.errors import BenchError
from pqc_mav_bench.options import CampaignOptions

SERVER_S = 60.0  # starting Python, ROS and the crypto library takes seconds, on a small board many
ANSWER_S = 30.0
POLL_S = 0.2
# This end sees the server before the server sees who waits for its answers, and rmw_fastrtps drops an answer whose
# reader it has not met 0.1 s later. A server that is starting may need longer.
MEET_S = 1.0


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
        self._client = ActionClient(node, RunCampaign, f"{name}/run_campaign")

    def run(
        self,
        options: CampaignOptions | None,
        resume: Path | None,
        on_feedback: Callable[[Any], None],
        stop: threading.Event,
    ) -> Outcome:
        """Runs (or resumes) a campaign to its end. Setting `stop` cancels it, which leaves it resumable.

        Raises BenchError when the controller is not there, refuses or is lost.
        """
        self._wait_for_server(stop)
        goal = RunCampaign.Goal(
            options_json="" if options is None else options.model_dump_json(),
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
            if not self._client.server_is_ready():
                raise BenchError(f"The controller {self._name} is lost; 'pqcmav bench resume' continues the campaign.")
        result = future.result().result
        folder = Path(result.run_directory) if result.run_directory else None
        return Outcome(bool(result.ok), str(result.message), folder, int(result.passed), int(result.failed))

    def _wait_for_server(self, stop: threading.Event) -> None:
        waited = 0.0
        while not self._client.wait_for_server(timeout_sec=POLL_S):
            waited += POLL_S
            if stop.is_set():
                raise BenchError("Stopped before the campaign began.")
            if waited >= SERVER_S:
                raise BenchError(f"No controller {self._name} was found within {SERVER_S:g} s; is it running?")
        stop.wait(MEET_S)

    def _wait(self, future: Any, limit_s: float) -> Any:
        if not _done_within(future, limit_s):
            raise BenchError(f"The controller {self._name} did not answer within {limit_s:g} s.")
        return future.result()


def _done_within(future: Any, limit_s: float) -> bool:
    done = threading.Event()
    future.add_done_callback(lambda _future: done.set())
    return done.wait(limit_s)
