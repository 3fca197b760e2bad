# SPDX-License-Identifier: Apache-2.0
"""Child processes of the laboratory: they end with their parent whatever happens to it, and may live in a namespace."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pqc_mav_common.child import start
from pqc_mav_common.helper import Helper, serve
from pqc_mav_common.helper import HelperError as ChildError
from pqc_mav_sim.impairment import netns

__all__ = ["HERE", "Child", "ChildError", "into", "serve", "spawn"]
HERE = Path(__file__).resolve().parent


def into(namespace: int | None) -> dict[str, Any]:
    """What has a child live in a network namespace (descriptor), and in a session: Ctrl-C reaches the parent alone."""
    return {"inside": None if namespace is None else partial(netns.enter, namespace), "start_new_session": True}


def spawn(command: Sequence[str], *, namespace: int | None = None, **options: Any) -> subprocess.Popen[bytes]:
    """Start a process that the kernel kills when the calling thread ends. Call it from the main thread only."""
    return start(command, **into(namespace), **options)


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
