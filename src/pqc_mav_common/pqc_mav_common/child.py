# SPDX-License-Identifier: Apache-2.0
"""What keeps a child process from outliving its parent."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1  # prctl(2)
_libc = ctypes.CDLL(None, use_errno=True)


def die_with(parent: int) -> Callable[[], None]:
    """What the child does between fork and exec: ask the kernel to kill it when its parent dies, however that dies.

    Give it to Popen as `preexec_fn`, with `os.getpid()`. To the kernel the parent is the thread that forked: start the
    child from one that lives as long as the child should. It makes nothing but two system calls through a library that
    is already loaded, so it is safe in a program with other threads.
    """

    def prepare() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the request was in force
            os._exit(1)

    return prepare
