# SPDX-License-Identifier: Apache-2.0
"""The `pqc_recorder` process: start, signals, an orderly end of the file, exit code."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

from pqc_mav_common.errors import ExitCode, ProcessError
from pqc_mav_common.process import Spinner, leave, needed_imports, ros, run_process, wait_until
from pqc_mav_common.renamed import say_renamed
from pqc_mav_recorder.file import RecordingError
from pqc_mav_recorder.recorder import MIB

PROGRAM = "pqc_recorder"


def main(argv: Sequence[str] | None = None) -> int:
    """Records until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    return run_process(PROGRAM, _serve, argv, package="pqc_mav_recorder")


def _serve(arguments: list[str], stop: threading.Event) -> int:
    with needed_imports():
        from rclpy.executors import SingleThreadedExecutor

        from pqc_mav_recorder.node import FlightRecorderNode

    with ros(arguments):
        try:
            node = FlightRecorderNode()
        except RecordingError as error:
            raise ProcessError(str(error)) from None
        with Spinner(SingleThreadedExecutor()) as spinner:
            spinner.add(node)
            spinner.start()
            wait_until(stop)
        # Only now, so that the last message is in the file.
        try:
            path = node.recorder.stop()
        except RecordingError as error:
            raise ProcessError(str(error), ExitCode.FAILED) from None
        size = path.stat().st_size / MIB
        print(f"{PROGRAM}: {node.recorder.messages} messages of {node.topics} topics in {path}, {size:.1f} MiB")
        if node.recorder.problem:
            print(f"{PROGRAM}: the recording ended early: {node.recorder.problem}", file=sys.stderr, flush=True)
            return ExitCode.FAILED
    return ExitCode.OK


def run() -> None:
    """Console script."""
    leave(main())


def run_as_flight_recorder() -> None:
    """Console script under the name it had before."""
    say_renamed("flight_recorder", "pqc_recorder")
    run()


if __name__ == "__main__":
    run()
