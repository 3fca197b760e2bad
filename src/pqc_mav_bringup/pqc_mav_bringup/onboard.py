# SPDX-License-Identifier: Apache-2.0
"""The `pqc_onboard` process: sensing and policy together.

Python, rclpy and the middleware cost each process some 50 MB, whatever its nodes do. The nodes are the same as in
`pqc_sensing` and `pqc_policy`; each takes its own parameters out of what the process was given.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial

from pqc_mav_common.errors import ExitCode
from pqc_mav_common.executors import one_thread
from pqc_mav_common.process import leave, needed_imports, ros, run_process, wait_until

PROGRAM = "pqc_onboard"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the nodes until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    return run_process(PROGRAM, _serve, argv, package="pqc_mav_bringup")


def _serve(arguments: list[str], stop: threading.Event) -> int:
    with needed_imports():
        from pqc_mav_common.lifecycle import serving
        from pqc_mav_policy.node import PqcPolicyNode
        from pqc_mav_policy.node_parameters import node_specs
        from pqc_mav_sensing.main import NODES, load

        senses = load(NODES)
    # Parameters given without a node's name reach every node of the process.
    siblings = [spec.name for specs in (node_specs(), *(sense.parameters for sense in senses)) for spec in specs]
    # In the order in which they need each other: what is sensed first, then what decides by it.
    makers = [*(partial(sense.make, siblings) for sense in senses), partial(PqcPolicyNode, siblings=siblings)]
    with ros(arguments), serving(one_thread(), makers):
        wait_until(stop)
    return ExitCode.OK


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
