# SPDX-License-Identifier: Apache-2.0
"""The `pqc_onboard` process: sensing and policy together, detector and guard where they are asked for.

Python, rclpy and the middleware cost each process some 50 MB, whatever its nodes do. The nodes are the same as in
`pqc_sensing`, `pqc_policy`, `pqc_detect` and `pqc_guard`; each takes its own parameters out of what the process was
given.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from pqc_mav_common.process import leave, run_nodes
from pqc_mav_common.siblings import WITH_GUARD

PROGRAM = "pqc_onboard"
WITH_DETECTOR = "--detect=true"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the nodes until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    return run_nodes(PROGRAM, _load, argv, package="pqc_mav_bringup")


def _load(arguments: list[str]) -> list[Any]:
    from pqc_mav_policy.node import PqcPolicyNode
    from pqc_mav_policy.node_parameters import node_specs
    from pqc_mav_sensing.main import NODES, load

    senses = load(NODES)
    tables = [node_specs(), *(sense.parameters for sense in senses)]
    kinds: list[Any] = [sense.make for sense in senses]
    if WITH_DETECTOR in arguments:
        from pqc_mav_detect.node import DetectNode
        from pqc_mav_detect.node_parameters import PARAMETERS

        tables.append(PARAMETERS)
        kinds.append(DetectNode)
    if WITH_GUARD in arguments:
        from pqc_mav_proxy.guard_node import GuardNode

        kinds.append(GuardNode)
    # Parameters given without a node's name reach every node of the process.
    siblings = [spec.name for specs in tables for spec in specs]
    # What is sensed first, then what decides by it.
    return [partial(kind, siblings=siblings) for kind in (*kinds, PqcPolicyNode)]


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
