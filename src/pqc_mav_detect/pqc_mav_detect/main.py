# SPDX-License-Identifier: Apache-2.0
"""The `pqc_detect` process: start, signals, orderly end, exit code."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from pqc_mav_common.errors import ExitCode
from pqc_mav_common.executors import one_thread
from pqc_mav_common.process import leave, needed_imports, ros, run_process, wait_until

PROGRAM = "pqc_detect"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the node until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    return run_process(PROGRAM, _serve, argv, package="pqc_mav_detect")


def _serve(arguments: list[str], stop: threading.Event) -> int:
    with needed_imports():
        from pqc_mav_common.lifecycle import serving
        from pqc_mav_detect.node import DetectNode

    with ros(arguments), serving(one_thread(), [DetectNode]):
        wait_until(stop)
    return ExitCode.OK


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
