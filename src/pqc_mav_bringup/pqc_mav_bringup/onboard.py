# SPDX-License-Identifier: Apache-2.0
"""The `pqc_onboard` process: sensing and policy together.

Python, rclpy and the middleware cost each process some 50 MB, whatever its nodes do. The nodes are the same as in
`pqc_sensing` and `pqc_policy`; each takes its own parameters out of what the process was given.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from pqc_mav_common.errors import ExitCode, ProcessError, one_line
from pqc_mav_common.executors import one_thread
from pqc_mav_common.process import Spinner, leave, needed_imports, ros, run_process, wait_until

PROGRAM = "pqc_onboard"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the nodes until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    return run_process(PROGRAM, _serve, argv, package="pqc_mav_bringup")


def _serve(arguments: list[str], stop: threading.Event) -> int:
    with needed_imports():
        import pqc_mav_tunnel

        from pqc_mav_policy.node import PqcPolicyNode
        from pqc_mav_policy.node_parameters import node_specs
        from pqc_mav_sensing.main import NODES, load

        senses = load(NODES)
    with ros(arguments):
        # Parameters given without a node's name reach every node of the process.
        siblings = [spec.name for specs in (node_specs(), *(sense.parameters for sense in senses)) for spec in specs]
        made: list[Any] = []
        with Spinner(one_thread()) as spinner:
            try:
                for sense in senses:
                    made.append(sense.make(siblings))
                    spinner.add(made[-1])
                try:
                    spinner.add(PqcPolicyNode(siblings=siblings))
                except (ValueError, pqc_mav_tunnel.TunnelError) as error:
                    # Parameters, strategies, tables and suite names are refused with one sentence.
                    raise ProcessError(one_line(error)) from None
                spinner.start()
                wait_until(stop)
            finally:
                for node in made:
                    node.close()
    return ExitCode.OK


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
