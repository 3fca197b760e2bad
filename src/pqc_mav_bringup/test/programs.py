# SPDX-License-Identifier: Apache-2.0
"""Small programs for the supervisor's tests."""

from __future__ import annotations

import sys
from pathlib import Path

from pqc_mav_bringup.description import Process, Respawn


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
