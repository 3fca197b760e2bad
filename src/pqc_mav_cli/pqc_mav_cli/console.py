"""Where output goes: results on stdout, messages and errors on stderr."""

from __future__ import annotations

import json
import sys
from typing import Any

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
    print(f"{PROGRAM}: error: {' '.join(str(sentence).split())}", file=sys.stderr, flush=True)


def note(sentence: str) -> None:
    """A remark that is not part of the result."""
    print(sentence, file=sys.stderr, flush=True)
