# SPDX-License-Identifier: Apache-2.0
"""Runs a benchmark on this machine: every process under the supervisor, the campaign asked for from a thread."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pqc_mav_cli.errors import CliError, engine_errors

if TYPE_CHECKING:
    from pqc_mav_bench.campaign_client import Outcome
    from pqc_mav_bench.options import CampaignOptions
    from pqc_mav_bringup.supervisor import Supervisor

KEPT_LINES = 400
LEAVE_S = 60.0
SHOWN_WORDS = ("error", "Error", "WARN", "failed", "ended with")


def run_here(
    root: Path,
    suites: list[str],
    given: CampaignOptions,
    options: CampaignOptions | None,
    resume: Path | None,
    on_feedback: Callable[[Any], None],
) -> Outcome:
    """Runs or resumes a campaign with everything on this machine; `given`: its options in either case. Raises
    CliError."""
    from pqc_mav_bench.errors import BenchError
    from pqc_mav_bench.local_system import SYSTEM, LocalSession
    from pqc_mav_bringup.description import BringupError, resolve
    from pqc_mav_bringup.prepare import prepare
    from pqc_mav_bringup.supervisor import Supervisor
    from pqc_mav_cli.ros_session import own_domain

    lines: deque[str] = deque(maxlen=KEPT_LINES)

    try:
        with (
            engine_errors(),
            LocalSession(root, suites, given.link, given.workload, key_pool=given.key_pool) as session,
            own_domain(),
        ):
            supervisor = Supervisor(
                prepare(resolve(SYSTEM, session.values)), lambda label, text: lines.append(f"{label} | {text}")
            )
            return _supervised(
                supervisor, lambda gone: ask(session.controller, options, resume, on_feedback, gone, gone)
            )
    except BringupError as error:
        raise CliError(str(error)) from None
    except BenchError as error:
        said = [line for line in lines if any(word in line for word in SHOWN_WORDS)][-5:]
        raise CliError(" ".join([str(error), *said])) from None


def _supervised(supervisor: Supervisor, campaign: Callable[[threading.Event], Outcome]) -> Outcome:
    from pqc_mav_bench.errors import BenchError

    gone = threading.Event()
    outcomes: list[Outcome] = []
    problems: list[BenchError] = []

    async def both() -> None:
        loop = asyncio.get_running_loop()

        def work() -> None:
            try:
                outcomes.append(campaign(gone))
            except BenchError as error:
                problems.append(error)
            finally:
                with suppress(RuntimeError):  # the loop has ended when the processes ended first
                    loop.call_soon_threadsafe(supervisor.stop)

        thread = threading.Thread(target=work, name="campaign", daemon=True)
        thread.start()
        await supervisor.run()
        gone.set()
        # Python's end would abort the process in a thread that is still in ROS.
        await asyncio.to_thread(thread.join, LEAVE_S)

    asyncio.run(both())
    if outcomes:
        return outcomes[0]
    # What a signal ended is no controller that was lost, though the client may have seen it so.
    if supervisor.signalled or not problems:
        raise CliError("The benchmark was stopped; 'pqcmav bench resume' continues it.")
    raise problems[0]


def ask(
    controller: str,
    options: CampaignOptions | None,
    resume: Path | None,
    on_feedback: Callable[[Any], None],
    stop: threading.Event,
    gone: threading.Event | None = None,
) -> Outcome:
    """Asks the node `controller` for a campaign and waits for its end, as `CampaignClient.run`."""
    from pqc_mav_bench.campaign_client import CampaignClient
    from pqc_mav_cli.ros_session import ros_node

    with ros_node("pqcmav_bench") as node:
        return CampaignClient(node, controller).run(options, resume, on_feedback, stop, gone)
