# SPDX-License-Identifier: Apache-2.0
"""Running `pqcmav` on a terminal."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from types import TracebackType

from commands import COMMAND, DEADLINE_S


class Terminal:
    """A `pqcmav` on a pseudo-terminal, and everything it has written there."""

    def __init__(self, *arguments: str, columns: int = 80, lines: int = 24) -> None:
        self.text = ""
        self._ours, theirs = os.openpty()
        self.resize(columns, lines)
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self._process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env={**environment, "TERM": "xterm"},
        )
        os.close(theirs)

    def resize(self, columns: int, lines: int) -> None:
        """What is written from now on is for another size."""
        self.text = ""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def wait_for(self, words: str) -> None:
        """Until these words were written."""
        deadline = time.monotonic() + DEADLINE_S
        while words not in self.text:
            assert time.monotonic() < deadline and self._read(), self.text

    def signal(self, number: signal.Signals) -> None:
        """As a key of the terminal does."""
        self._process.send_signal(number)

    def wait(self) -> int:
        """Its exit code."""
        while self._read():
            pass
        return self._process.wait(DEADLINE_S)

    def _read(self) -> bool:
        """Whether there may be more to come."""
        if not select.select([self._ours], [], [], DEADLINE_S)[0]:
            return False
        try:
            self.text += os.read(self._ours, 1 << 16).decode(errors="replace")
        except OSError:  # the other end has gone
            return False
        return True

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait(DEADLINE_S)
        os.close(self._ours)
