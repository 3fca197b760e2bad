"""Where output goes: results on stdout, messages and errors on stderr."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

from rich.console import Console

PROGRAM = "pqcmav"
WIDE = 240  # columns where there is no terminal: no table of ours is cut


def console() -> Console:
    """For results. Colours only on a terminal; a pipe gets whole tables."""
    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False, soft_wrap=False)


def print_json(value: Any) -> None:
    """A result for a script: one JSON document."""
    print(json.dumps(value, indent=2, allow_nan=False))


def print_error(sentence: object) -> None:
    """One line on stderr."""
    note(f"{PROGRAM}: error: {' '.join(str(sentence).split())}")


def note(sentence: str) -> None:
    """A remark that is not part of the result; what is being done goes on even when nothing reads it any more."""
    try:
        print(sentence, file=sys.stderr, flush=True)
    except BrokenPipeError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Drop what is written to `stream` from now on: its reader has gone, e.g. in `pqcmav suites | head`."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)
