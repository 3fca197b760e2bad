# SPDX-License-Identifier: Apache-2.0
"""The `pqc_bench_agent` process: start, signals, orderly end, exit code."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from pqc_mav_bench.process_main import spinning
from pqc_mav_common.process import leave, stop_on_signals
from pqc_mav_common.renamed import say_renamed

LEAVE_S = 0.5  # the answer to a shutdown must be out first


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the agent until SIGINT, SIGTERM or its `~/shutdown`."""
    from pqc_mav_bench.agent_node import AgentNode

    stop = stop_on_signals()
    with spinning(list(sys.argv if argv is None else argv), AgentNode) as node:
        node.get_logger().info(f"agent for {node.watch.name}")
        while not stop.wait(0.2):
            if node.shutdown_asked.is_set():
                time.sleep(LEAVE_S)
                break
    return 0


def run() -> None:
    """Console script."""
    leave(main())


def run_as_bench_agent() -> None:
    """Console script under the name it had before."""
    say_renamed("bench_agent", "pqc_bench_agent")
    run()


if __name__ == "__main__":
    run()
