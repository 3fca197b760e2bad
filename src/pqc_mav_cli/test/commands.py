# SPDX-License-Identifier: Apache-2.0
"""Running `pqcmav` as its users do."""

from __future__ import annotations

import subprocess
import sys

from pqc_mav_common import testing

DEADLINE_S = 90.0
COMMAND = [sys.executable, "-c", "from pqc_mav_cli.entry import run; run()"]
DRONES = ("d1", "d2")


def pqcmav(*arguments: str, timeout: float = DEADLINE_S) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=timeout, check=False)


def refused(code: int, *arguments: str) -> str:
    """The command ends with `code` and one line on stderr, which is returned; nothing on stdout."""
    ended = pqcmav(*arguments)
    assert ended.returncode == code, ended.stderr
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    assert line.startswith("pqcmav: error: ")
    return line


class Running(testing.Running):
    """A `pqcmav` that runs until it is stopped."""

    def __init__(self, *arguments: str) -> None:
        super().__init__([*COMMAND, *arguments])
