# SPDX-License-Identifier: Apache-2.0
"""The `pqc_bench_controller` process: start, signals, orderly end, exit code."""

import threading
from collections.abc import Sequence

from pqc_mav_bench.process_main import spinning
from pqc_mav_common.errors import ExitCode
from pqc_mav_common.process import leave, run_process, wait_until

PROGRAM = "pqc_bench_controller"


def main(argv: Sequence[str] | None = None) -> int:
    """Serves campaigns until SIGINT or SIGTERM."""
    return run_process(PROGRAM, _serve, argv, package="pqc_mav_bench")


def _serve(arguments: list[str], stop: threading.Event) -> int:
    from pqc_mav_bench.controller_node import ControllerNode

    with spinning(arguments, ControllerNode) as node:
        node.get_logger().info("controller ready")
        wait_until(stop)
    return ExitCode.OK


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
