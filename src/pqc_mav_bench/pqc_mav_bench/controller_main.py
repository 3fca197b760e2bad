# SPDX-License-Identifier: Apache-2.0
"""The `pqc_bench_controller` process: start, signals, orderly end, exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pqc_mav_bench.process_main import spinning
from pqc_mav_common.process import leave, stop_on_signals, wait_until
from pqc_mav_common.renamed import say_renamed


def main(argv: Sequence[str] | None = None) -> int:
    """Serves campaigns until SIGINT or SIGTERM."""
    from pqc_mav_bench.controller_node import ControllerNode

    stop = stop_on_signals()
    with spinning(list(sys.argv if argv is None else argv), ControllerNode) as node:
        node.get_logger().info("controller ready")
        wait_until(stop)
    return 0


def run() -> None:
    """Console script."""
    leave(main())


def run_as_bench_controller() -> None:
    """Console script under the name it had before."""
    say_renamed("bench_controller", "pqc_bench_controller")
    run()


if __name__ == "__main__":
    run()
