# SPDX-License-Identifier: Apache-2.0
"""Child processes: none outlives its parent, and what a program says is kept and can be waited for.

It needs nothing but Python: programs of the system's own Python import it, too.
"""

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

_PR_SET_PDEATHSIG = 1  # prctl(2)
_libc = ctypes.CDLL(None, use_errno=True)
END_S = 3.0
LIMIT_S = 90.0
LAST_LINES = 5


class ProgramError(RuntimeError):
    """A program did not do or say what it should: one sentence."""


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


def start(
    command: Sequence[str], *, inside: Callable[[], object] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Starts a child that dies with the calling thread. `inside` is called in it first, as to enter a namespace."""
    bind = die_with(os.getpid())

    def prepare() -> None:
        bind()
        if inside is not None:
            inside()

    return subprocess.Popen(command, preexec_fn=prepare, **options)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a child: its input closed, then SIGTERM, then SIGKILL."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL) if process.stdin else (signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
            break
    if process.stdout is not None:
        process.stdout.close()


class Program:
    """A program that runs until it is ended; its lines are kept. Kill it at the end, whatever happened."""

    def __init__(self, name: str, command: Sequence[str], *, limit_s: float = LIMIT_S, **options: Any) -> None:
        """`name` is for sentences; `options` are those of `start`. Unless one output is a pipe, both are read.

        `limit_s`: longest wait for anything. Raises OSError.
        """
        self.name = name
        self.lines: list[str] = []
        self.times: list[float] = []  # when each line came, monotonic
        self._limit_s = limit_s
        self._over = False  # it has ended, and everything that it said is in `lines`
        self._news = threading.Condition()
        if subprocess.PIPE not in (options.get("stdout"), options.get("stderr")):
            options |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = start(command, **options)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def _read(self) -> None:
        output = self.process.stdout or self.process.stderr
        assert output is not None
        with output:
            for line in output:
                with self._news:
                    self.times.append(time.monotonic())
                    self.lines.append(line.decode(errors="replace").rstrip())
                    self._news.notify_all()
        with self._news:
            self._over = True
            self._news.notify_all()

    def last_words(self) -> str:
        """The end of what it said."""
        return "; ".join(self.lines[-LAST_LINES:]) or "nothing"

    def said(self, pattern: str, after: int = 0) -> re.Match[str] | None:
        """The last line so far that has the pattern, beyond the first `after` lines."""
        found = (re.search(pattern, line) for line in reversed(self.lines[after:]))
        return next((match for match in found if match), None)

    def wait_for(self, pattern: str, after: int = 0) -> re.Match[str]:
        """Waits until a line has the pattern. Raises ProgramError when it ends before, or does not say it in time."""
        with self._news:
            self._news.wait_for(lambda: self._over or self.said(pattern, after), self._limit_s)
            match = self.said(pattern, after)
        if match:
            return match
        if self._over:
            raise ProgramError(f"The {self.name} ended with {self.wait()}; it said: {self.last_words()}")
        late = f"The {self.name} did not say '{pattern}' within {self._limit_s:.0f} s, but: {self.last_words()}"
        raise ProgramError(late)

    def wait(self) -> int:
        """Its exit code, when it has ended and all that it said is read. Raises subprocess.TimeoutExpired."""
        code = self.process.wait(self._limit_s)
        self._reader.join(self._limit_s)
        return code

    def end(self, number: int = signal.SIGTERM) -> int:
        """Sends a signal; as `wait` from there on."""
        self.process.send_signal(number)
        return self.wait()

    def kill(self) -> None:
        """Leaves nothing of it behind; what it started may hold its output a while longer."""
        self.process.kill()
        self.process.wait(self._limit_s)
        self._reader.join(END_S)
