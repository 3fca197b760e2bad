# SPDX-License-Identifier: Apache-2.0
"""Keeps stdout for our own output: what libraries in C and C++ print there, as Fast DDS does, goes to stderr."""

import fcntl
import io
import os
import sys

STDOUT, STDERR = 1, 2


def claim() -> None:
    """From now on only what is written to `sys.stdout` reaches stdout; all else on descriptor 1 goes to stderr.

    Never undone: libraries still print while the process ends. Nothing to do where `sys.stdout` is something else.
    """
    before = sys.stdout
    try:
        if before is None or before.fileno() != STDOUT:
            return
        before.flush()
    except (AttributeError, io.UnsupportedOperation, ValueError):
        return  # not a file, or a closed one
    # Not the number of a stderr that is missing; children do not inherit it.
    own = fcntl.fcntl(STDOUT, fcntl.F_DUPFD_CLOEXEC, STDERR + 1)
    sys.stdout = os.fdopen(
        own, "w", encoding=before.encoding, errors=before.errors, buffering=1 if os.isatty(own) else -1
    )
    if sys.stderr is None:  # they print to nobody: its number may be anything by now
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, STDOUT)
        os.close(sink)
    else:
        os.dup2(STDERR, STDOUT)
