"""The `bench_agent` process: start, signals, orderly end, exit code."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Sequence

from pqc_mav_bench.process_main import leave, spinning

LEAVE_S = 0.5  # the answer to a shutdown must be out first


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the agent until SIGINT, SIGTERM or its `~/shutdown`."""
    from pqc_mav_bench.agent_node import AgentNode

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
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


if __name__ == "__main__":
    run()
