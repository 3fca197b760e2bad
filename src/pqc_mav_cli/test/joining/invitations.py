# SPDX-License-Identifier: Apache-2.0
"""`pqcmav invite` and `pqcmav join` as two processes on loopback."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from commands import COMMAND, DEADLINE_S, Running

from pqc_mav_common import free_ports


@contextmanager
def inviting(root: Path, drone: str, *options: str) -> Iterator[tuple[Running, str]]:
    """An invitation and its line. It waits on a free port of 127.0.0.1; a stand-in for a gcs would be at another."""
    here = ("--address", "127.0.0.1", "--bind", "127.0.0.1", "--port", "0", "--data-port", str(free_ports.free_port()))
    running = Running("invite", drone, "--root", str(root), *here, *options)
    try:
        running.wait_for("PQJOIN")
        yield running, next(line for line in running.lines if line.startswith("PQJOIN"))
    finally:
        running.kill()


def join(line: str, keys: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A drone that joins, to its end; the line comes on its standard input."""
    return subprocess.run(
        [*COMMAND, "join", "-", "--keys", str(keys), *options],
        input=line + "\n", capture_output=True, text=True, timeout=DEADLINE_S, check=False, env=os.environ,
    )  # fmt: skip
