# SPDX-License-Identifier: Apache-2.0
"""The `pqc_policy` process: start, signals, orderly end, exit code."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from pqc_mav_common.errors import ExitCode, ProcessError, one_line
from pqc_mav_common.executors import one_thread
from pqc_mav_common.process import Spinner, leave, needed_imports, ros, run_process, wait_until

PROGRAM = "pqc_policy"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the node until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    return run_process(PROGRAM, _serve, argv, package="pqc_mav_policy")


def _serve(arguments: list[str], stop: threading.Event) -> int:
    with needed_imports():
        import pqc_mav_tunnel

        from pqc_mav_policy.node import PqcPolicyNode

    with ros(arguments):
        try:
            node = PqcPolicyNode()
        except (ValueError, pqc_mav_tunnel.TunnelError) as error:
            # Parameters, strategies, tables and suite names are refused with one sentence.
            raise ProcessError(one_line(error)) from None
        with Spinner(one_thread()) as spinner:
            spinner.add(node)
            spinner.start()
            wait_until(stop)
    return ExitCode.OK


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
