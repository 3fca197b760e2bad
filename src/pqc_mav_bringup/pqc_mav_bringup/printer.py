# SPDX-License-Identifier: Apache-2.0
"""Output lines of several processes on one terminal, each behind the time and its label."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TextIO

from pqc_mav_common.errors import written_out

_COLOURS = (36, 33, 35, 32, 34, 31)  # ANSI foreground colours: cyan, yellow, magenta, green, blue, red


class Printer:
    """Writes `time label | line`; labels are padded to one width and coloured where the output is a terminal.

    `keep(line)`, where given, gets every line without colours and with the date.
    """

    def __init__(
        self,
        labels: Sequence[str],
        stream: TextIO | None = None,
        keep: Callable[[str], None] | None = None,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._keep = keep
        self._now = now
        self._stream = stream if stream is not None else sys.stderr
        self._width = max((len(label) for label in labels), default=0)
        coloured = self._stream.isatty() and "NO_COLOR" not in os.environ
        self._colours = {
            label: _COLOURS[index % len(_COLOURS)] if coloured else 0 for index, label in enumerate(labels)
        }

    def line(self, label: str, text: str) -> None:
        """One line of the process `label`."""
        text = written_out(text)  # a process may print whatever it was told
        padded = label.ljust(self._width)
        colour = self._colours.get(label, 0)
        prefix = f"\033[{colour}m{padded}\033[0m" if colour else padded
        moment = self._now()
        if self._keep is not None:
            self._keep(f"{moment:%Y-%m-%d} {clock(moment)} {padded} | {text}")
        say(f"{clock(moment)} {prefix} | {text}", self._stream)

    def sink(self, label: str) -> Callable[[str], None]:
        """`line` for one label."""
        return lambda text: self.line(label, text)


def clock(moment: datetime) -> str:
    """Time of day to the millisecond."""
    return moment.isoformat(timespec="milliseconds").partition("T")[2]


def say(line: str, stream: TextIO | None = None) -> None:
    """One line, on stderr unless said otherwise.

    What is being done goes on when nothing reads it any more, and when the disk to which it goes is full.
    """
    into = sys.stderr if stream is None else stream
    try:
        print(line, file=into, flush=True)
    except BrokenPipeError:
        discard(into)
    except OSError:
        return


def settle(stream: TextIO) -> None:
    """Before Python ends, which would exit with 120 over what a full disk did not take."""
    try:
        stream.flush()
    except OSError:
        discard(stream)


def discard(stream: TextIO) -> None:
    """Drops what is written to `stream` from now on: its reader has gone, e.g. in `pqcmav suites | head`."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)
