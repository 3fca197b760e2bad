# SPDX-License-Identifier: Apache-2.0
"""Child processes of the laboratory: they end with their parent whatever happens to it, and may live in a namespace."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pqc_mav_common.child import end, start
from pqc_mav_common.helper import Helper, serve
from pqc_mav_common.helper import HelperError as ChildError
from pqc_mav_sim.impairment import netns

__all__ = ["HERE", "Child", "ChildError", "end_all", "into", "serve", "spawn"]
HERE = Path(__file__).resolve().parent
_UNWIND_S = 15.0


def into(namespace: int | None) -> dict[str, Any]:
    """What has a child live in a network namespace (descriptor), and in a session: Ctrl-C reaches the parent alone."""
    return {"inside": None if namespace is None else partial(netns.enter, namespace), "start_new_session": True}


def spawn(command: Sequence[str], *, namespace: int | None = None, **options: Any) -> subprocess.Popen[bytes]:
    """Start a process that the kernel kills when the calling thread ends. Call it from the main thread only."""
    return start(command, **into(namespace), **options)


def end_all(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    """End those that still run, and give them time to take away their keys: the kernel would kill them at once."""
    running = list(processes)
    for each in running:
        each.terminate()
    for each in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            each.wait(_UNWIND_S)
        end(each)


class Child(Helper):
    """A helper script of this folder."""

    def __init__(
        self,
        script: str,
        *,
        namespace: int | None = None,
        pass_fds: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        command = [*prefix, sys.executable, str(HERE / script)]
        super().__init__(command, **into(namespace), pass_fds=pass_fds, env={**os.environ, **(environment or {})})
