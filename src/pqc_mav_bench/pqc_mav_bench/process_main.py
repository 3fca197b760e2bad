# SPDX-License-Identifier: Apache-2.0
"""The processes `pqc_bench_agent` and `pqc_bench_controller`: start, signals, orderly end, exit code."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from pqc_mav_common.errors import ExitCode
from pqc_mav_common.process import Spinner, leave, ros, run_process, wait_until

EXECUTOR_THREADS = 4
LEAVE_S = 0.5  # the answer to a shutdown must be out first


def agent(argv: Sequence[str] | None = None) -> int:
    """Runs the agent until SIGINT, SIGTERM or its `~/shutdown`."""
    return run_process("pqc_bench_agent", _serve_agent, argv, package="pqc_mav_bench")


def _serve_agent(arguments: list[str], stop: threading.Event) -> int:
    from pqc_mav_bench.agent_node import AgentNode

    with spinning(arguments, AgentNode) as node:
        while not stop.wait(0.2):
            if node.shutdown_asked.is_set() or node.finalized:
                time.sleep(LEAVE_S)
                break
    return ExitCode.OK


def _serve_controller(arguments: list[str], stop: threading.Event) -> int:
    from pqc_mav_bench.controller_node import ControllerNode

    with spinning(arguments, ControllerNode) as node:
        node.get_logger().info("controller ready")
        wait_until(stop, [node])
    return ExitCode.OK


@contextmanager
def spinning(arguments: list[str], make_node: Callable[[], Any]) -> Iterator[Any]:
    """A node whose callbacks run in threads of their own for the time of the block; `node.close()` is called first.

    A second node in the attribute `observer`, where there is one, has a single thread. Raises ProcessError.
    """
    from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor

    from pqc_mav_common.executors import Spun
    from pqc_mav_common.lifecycle import serving

    with ros(arguments), ExitStack() as stack:
        node = make_node()
        if hasattr(node, "observer"):
            spinner = stack.enter_context(Spinner(Spun(SingleThreadedExecutor())))
            spinner.add(node.observer)
            spinner.start()
        stack.enter_context(serving(Spun(MultiThreadedExecutor(num_threads=EXECUTOR_THREADS)), [lambda: node]))
        yield node


def run_agent() -> None:
    """Console script `pqc_bench_agent`."""
    leave(agent())


def run_controller() -> None:
    """Console script `pqc_bench_controller`: serves campaigns until SIGINT or SIGTERM."""
    leave(run_process("pqc_bench_controller", _serve_controller, package="pqc_mav_bench"))
