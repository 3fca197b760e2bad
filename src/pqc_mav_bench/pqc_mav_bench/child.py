# SPDX-License-Identifier: Apache-2.0
"""Helper processes that must not outlive us, however we end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

from pqc_mav_common.child import die_with

END_S = 3.0


def start(command: Sequence[str], **arguments: Any) -> subprocess.Popen[bytes]:
    """Starts a child, pipes unbuffered. Call it from a thread that lives as long as the child: it dies with it."""
    return subprocess.Popen(command, bufsize=0, preexec_fn=die_with(os.getpid()), **arguments)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a child: its input closed, then SIGTERM, then SIGKILL."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
            break
    if process.stdout is not None:
        process.stdout.close()
