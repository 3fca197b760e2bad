# SPDX-License-Identifier: Apache-2.0
"""The `pqc_policy` process: start, signals, orderly end, exit code."""

from collections.abc import Sequence
from typing import Any

from pqc_mav_common.process import leave, run_nodes

PROGRAM = "pqc_policy"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the node until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    return run_nodes(PROGRAM, _load, argv, package="pqc_mav_policy")


def _load(_: list[str]) -> list[Any]:
    from pqc_mav_policy.node import PqcPolicyNode

    return [PqcPolicyNode]


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
