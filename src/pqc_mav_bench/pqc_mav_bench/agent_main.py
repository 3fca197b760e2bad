# SPDX-License-Identifier: Apache-2.0
"""The `pqc_bench_agent` process: start, signals, orderly end, exit code."""

import threading
import time
from collections.abc import Sequence

from pqc_mav_bench.process_main import spinning
from pqc_mav_common.errors import ExitCode
from pqc_mav_common.process import leave, run_process

PROGRAM = "pqc_bench_agent"
LEAVE_S = 0.5  # the answer to a shutdown must be out first


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the agent until SIGINT, SIGTERM or its `~/shutdown`."""
    return run_process(PROGRAM, _serve, argv, package="pqc_mav_bench")


def _serve(arguments: list[str], stop: threading.Event) -> int:
    from pqc_mav_bench.agent_node import AgentNode

    with spinning(arguments, AgentNode) as node:
        while not stop.wait(0.2):
            if node.shutdown_asked.is_set():
                time.sleep(LEAVE_S)
                break
    return ExitCode.OK


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
