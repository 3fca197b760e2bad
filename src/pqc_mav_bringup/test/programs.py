# SPDX-License-Identifier: Apache-2.0
"""Small programs to be started."""

from __future__ import annotations

import sys
from pathlib import Path

from pqc_mav_bringup.description import Process
from pqc_mav_bringup.respawn import Respawn


def python_process(label: str, code: str, respawn: Respawn | None = None) -> Process:
    """A process that runs Python code; the interpreter is found on PATH, so PATH must begin with its folder."""
    return Process(
        label=label,
        package="none",
        executable=Path(sys.executable).name,
        node="",
        namespace="",
        config="",
        parameters={},
        arguments=("-u", "-c", code),
        respawn=respawn,
        hint="",
    )


def install(prefix: Path, package: str, executable: str) -> Path:
    """A program that does nothing, where a ROS prefix has those of its packages."""
    program = prefix / "lib" / package / executable
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program
