# SPDX-License-Identifier: Apache-2.0
"""The `pqc_proxy` process: start, signals, orderly end, exit code. SIGHUP has it read configuration and keys again."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

from pqc_mav_common.errors import ExitCode
from pqc_mav_common.process import block_hangups, leave, needed_imports, on_hangups, ros, run_process, wait_until

PROGRAM = "pqc_proxy"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the node until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    block_hangups()  # before imports start threads
    return run_process(PROGRAM, _serve, argv, package="pqc_mav_proxy")


def _serve(arguments: list[str], stop: threading.Event) -> int:
    with needed_imports():
        import pqc_mav_tunnel
        from rclpy.executors import MultiThreadedExecutor

        from pqc_mav_common.executors import Spun
        from pqc_mav_common.lifecycle import serving
        from pqc_mav_proxy.node import PqcProxyNode
        from pqc_mav_proxy.rekey_server import REKEYS_AT_ONCE

    # Before a key is read: session keys live in this process's memory.
    if said := pqc_mav_tunnel.forbid_core_dumps():
        print(f"{PROGRAM}: warning: {said}", file=sys.stderr, flush=True)
    threads = REKEYS_AT_ONCE + 1  # one stays free for topics while rekeys wait in the others
    with ros(arguments), serving(Spun(MultiThreadedExecutor(num_threads=threads)), [PqcProxyNode]) as nodes:
        on_hangups(nodes[0].reload, stop)
        finalized = wait_until(stop, nodes)
    return ExitCode.FINALIZED if finalized else ExitCode.OK


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
