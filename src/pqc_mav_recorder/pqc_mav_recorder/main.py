# SPDX-License-Identifier: Apache-2.0
"""The `pqc_recorder` process: start, signals, an orderly end of the file, exit code."""

import threading
from collections.abc import Sequence

from pqc_mav_common.errors import ExitCode
from pqc_mav_common.process import leave, needed_imports, ros, run_process, wait_until

PROGRAM = "pqc_recorder"


def main(argv: Sequence[str] | None = None) -> int:
    """Records until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    return run_process(PROGRAM, _serve, argv, package="pqc_mav_recorder")


def _serve(arguments: list[str], stop: threading.Event) -> int:
    with needed_imports():
        from rclpy.executors import SingleThreadedExecutor

        from pqc_mav_common.executors import Spun
        from pqc_mav_common.lifecycle import serving
        from pqc_mav_recorder.node import FlightRecorderNode

    with ros(arguments):
        with serving(Spun(SingleThreadedExecutor()), [FlightRecorderNode]) as (node,):
            wait_until(stop, [node])
        # Only now, so that the last message is in the file.
        if said := node.finish():
            print(f"{PROGRAM}: {said}")
    return ExitCode.OK


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
