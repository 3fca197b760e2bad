# SPDX-License-Identifier: Apache-2.0
"""The `pqc_detect` process: start, signals, orderly end, exit code; the guard shares it where that is asked for."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from pqc_mav_common.process import leave, run_nodes
from pqc_mav_common.siblings import WITH_GUARD

PROGRAM = "pqc_detect"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the node until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    return run_nodes(PROGRAM, _load, argv, package="pqc_mav_detect")


def _load(arguments: list[str]) -> list[Any]:
    from pqc_mav_detect.node import DetectNode

    if WITH_GUARD not in arguments:
        return [DetectNode]
    from pqc_mav_detect.node_parameters import PARAMETERS
    from pqc_mav_proxy.guard_node import GuardNode

    return [partial(GuardNode, siblings=[spec.name for spec in PARAMETERS]), DetectNode]


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
