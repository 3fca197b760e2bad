# SPDX-License-Identifier: Apache-2.0
"""The `pqc_detect` process: start, signals, orderly end, exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pqc_mav_common.process import leave, run_nodes

PROGRAM = "pqc_detect"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the node until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    return run_nodes(PROGRAM, _load, argv, package="pqc_mav_detect")


def _load(_: list[str]) -> list[Any]:
    from pqc_mav_detect.node import DetectNode

    return [DetectNode]


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
