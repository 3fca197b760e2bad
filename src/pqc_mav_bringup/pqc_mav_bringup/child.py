"""One supervised process: start, output lines, orderly end, nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

MAX_LINE = 16 * 1024  # longer lines are shown in pieces
OUTPUT_S = 2.0  # longest wait for output after the process has ended
_PR_SET_PDEATHSIG = 1  # prctl(2)
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class StopTimeouts:
    """How long each signal gets before the next, harder one: SIGINT, SIGTERM, SIGKILL [s]."""

    interrupt_s: float = 5.0
    terminate_s: float = 3.0


LADDER = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


def _die_with(parent: int) -> Callable[[], None]:
    """What the child does between fork and exec: ask the kernel to kill it when its parent dies, however that dies."""

    def prepare() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the request was in force
            os._exit(1)

    return prepare


class Child:
    """A running process in a process group of its own, so that signals of the terminal do not reach it directly."""

    def __init__(self, label: str, process: asyncio.subprocess.Process, on_line: Callable[[str], None]) -> None:
        self.label = label
        self._process = process
        self._group = process.pid
        self._output = asyncio.create_task(self._read(on_line))
        self.killed = False  # SIGKILL was needed to end it

    @classmethod
    async def start(
        cls,
        label: str,
        command: Sequence[str],
        on_line: Callable[[str], None],
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        """Starts `command`; each line of its output goes to `on_line`. Raises OSError."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_die_with(os.getpid()),
            env=None if environment is None else {**os.environ, **environment},
        )
        return cls(label, process, on_line)

    @property
    def pid(self) -> int:
        """Process id, also of its process group."""
        return self._process.pid

    async def wait(self) -> int:
        """Exit code (negative: the signal that ended it), when all its output is read and its group is gone."""
        code = await self._process.wait()
        # What the process itself started and left behind must not outlive it, nor keep its output open.
        self.send(signal.SIGKILL)
        # A grandchild in a session of its own could hold the pipe open for ever: it does not hold us.
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._output), OUTPUT_S)
        return code

    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.returncode is None

    async def stop(self, timeouts: StopTimeouts, first: signal.Signals = signal.SIGINT) -> int:
        """Ends it, starting with the signal `first` and getting harder. Returns the exit code."""
        waits = {signal.SIGINT: timeouts.interrupt_s, signal.SIGTERM: timeouts.terminate_s, signal.SIGKILL: None}
        for number in LADDER[LADDER.index(first) :]:
            if not self.running():
                break
            self.killed = number == signal.SIGKILL
            self.send(number)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._process.wait(), waits[number])
        return await self.wait()

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to its whole group; nothing happens when it has ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, number)

    async def _read(self, on_line: Callable[[str], None]) -> None:
        stream = self._process.stdout
        assert stream is not None
        buffer = b""
        while chunk := await stream.read(65536):
            *lines, buffer = (buffer + chunk).split(b"\n")
            if len(buffer) > MAX_LINE:
                lines.append(buffer)
                buffer = b""
            for line in lines:
                on_line(line.decode(errors="replace").rstrip("\r"))
        if buffer:
            on_line(buffer.decode(errors="replace"))
