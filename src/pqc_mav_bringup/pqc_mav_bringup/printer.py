# SPDX-License-Identifier: Apache-2.0
"""Output lines of several processes on one terminal, each behind its label."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TextIO

_COLOURS = (36, 33, 35, 32, 34, 31)  # ANSI foreground colours: cyan, yellow, magenta, green, blue, red


class Printer:
    """Writes `label | line`; labels are padded to one width and coloured where the output is a terminal."""

    def __init__(self, labels: Sequence[str], stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._width = max((len(label) for label in labels), default=0)
        coloured = self._stream.isatty() and "NO_COLOR" not in os.environ
        self._colours = {
            label: _COLOURS[index % len(_COLOURS)] if coloured else 0 for index, label in enumerate(labels)
        }

    def line(self, label: str, text: str) -> None:
        """One line of the process `label`."""
        padded = label.ljust(self._width)
        colour = self._colours.get(label, 0)
        prefix = f"\033[{colour}m{padded}\033[0m" if colour else padded
        try:
            print(f"{prefix} | {text}", file=self._stream, flush=True)
        except BrokenPipeError:  # the processes go on when nothing reads their output any more
            discard(self._stream)

    def sink(self, label: str) -> Callable[[str], None]:
        """`line` for one label."""
        return lambda text: self.line(label, text)


def discard(stream: TextIO) -> None:
    """Drops what is written to `stream` from now on: its reader has gone, e.g. in `pqcmav suites | head`."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)
