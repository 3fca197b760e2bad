# SPDX-License-Identifier: Apache-2.0
"""One supervised process: start, output lines, orderly end, nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence

from pqc_mav_common.child import die_with

MAX_LINE = 16 * 1024  # longer lines are shown in pieces
CHUNK = 64 * 1024
OUTPUT_S = 2.0  # longest wait for output after the process has ended
PATIENCE_S = 20.0  # between SIGTERM and SIGKILL: a recorder may have to wait for a slow card


class Child:
    """A running process in a process group of its own, so that signals of the terminal do not reach it directly.

    Made inside a running event loop. A pidfd (Linux 5.3) reports its end, not asyncio's subprocesses: their `wait` also
    waits for any other process that holds the output pipe.
    """

    def __init__(
        self,
        label: str,
        command: Sequence[str],
        on_line: Callable[[str], None],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Starts `command`; each line of its output goes to `on_line`. Raises OSError."""
        self.label = label
        self.killed = False  # SIGKILL was needed to end it
        self._on_line = on_line
        self._pending = b""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with(os.getpid()),
            env=None if environment is None else {**os.environ, **environment},
        )
        assert self._process.stdout is not None
        self._output = self._process.stdout.fileno()
        try:
            self._pidfd = os.pidfd_open(self._process.pid)
        except OSError:  # nobody would know of it
            with self._process:
                self._process.kill()
            raise
        self._loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[int] = self._loop.create_future()
        self._drained: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(self._output, False)
        self._loop.add_reader(self._output, self._read)
        self._loop.add_reader(self._pidfd, self._end)

    @property
    def pid(self) -> int:
        """Process id, also of its process group."""
        return self._process.pid

    def running(self) -> bool:
        """Whether it has not ended yet."""
        return not self._exited.done()

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to its whole group; nothing happens when it has ended."""
        if self.running():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    async def wait(self) -> int:
        """Exit code (negative: the signal that ended it), when its group is gone and its output is read."""
        code = await asyncio.shield(self._exited)
        # A grandchild in a session of its own could hold the pipe open indefinitely; that must not hold us up.
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._drained), OUTPUT_S)
        self._close_output()
        return code

    async def stop(self, patience_s: float = PATIENCE_S) -> int:
        """Ends it with SIGTERM, and with SIGKILL if it still runs `patience_s` later. Returns the exit code.

        SIGINT would do for our programs as well, but a Python that is still starting prints a traceback on it; of
        SIGTERM it dies without a word.
        """
        self.send(signal.SIGTERM)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._exited), patience_s)
        self.killed = self.running()
        if self.killed:
            self.send(signal.SIGKILL)
        return await self.wait()

    def _end(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        # What it started must not outlive it. It is not reaped yet, so the number of the group is still its own.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._exited.set_result(self._process.wait())

    def _read(self) -> None:
        try:
            chunk = os.read(self._output, CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._close_output()
            return
        *lines, self._pending = (self._pending + chunk).split(b"\n")
        if len(self._pending) > MAX_LINE:
            lines.append(self._pending)
            self._pending = b""
        for line in lines:
            self._emit(line)

    def _emit(self, line: bytes) -> None:
        for start in range(0, max(len(line), 1), MAX_LINE):
            self._on_line(line[start : start + MAX_LINE].decode(errors="replace").rstrip("\r"))

    def _close_output(self) -> None:
        if self._drained.done():
            return
        self._loop.remove_reader(self._output)
        assert self._process.stdout is not None
        self._process.stdout.close()
        if self._pending:
            self._emit(self._pending)
        self._drained.set_result(None)
