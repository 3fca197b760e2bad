"""The `bench_controller` process: start, signals, orderly end, exit code."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence

from pqc_mav_bench.process_main import leave, spinning


def main(argv: Sequence[str] | None = None) -> int:
    """Serves campaigns until SIGINT or SIGTERM."""
    from pqc_mav_bench.controller_node import ControllerNode

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with spinning(list(sys.argv if argv is None else argv), ControllerNode) as node:
        node.get_logger().info("controller ready")
        while not stop.wait(1.0):
            pass
    return 0


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
