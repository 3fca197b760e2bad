# SPDX-License-Identifier: Apache-2.0
"""Runs a system's processes: respawn with back-off, signals, one exit code, nothing left over.

Each process is watched by one task; a signal or a final failure ends them all with SIGTERM, and with SIGKILL what takes
too long. A second signal shortens the wait. Children are killed by the kernel should the supervisor itself be killed
(see child.py).
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence

from pqc_mav_bringup.child import PATIENCE_S, Child
from pqc_mav_bringup.ready import Ready
from pqc_mav_bringup.respawn import ExitCode, Lives

HURRIED_S = 3.0  # what is left of the patience after a second signal


class Supervisor:
    """Supervises `processes` until they are all done, one fails for good, or a signal arrives."""

    def __init__(
        self, processes: Sequence[Ready], on_line: Callable[[str, str], None], *, patience_s: float = PATIENCE_S
    ) -> None:
        """`on_line(label, text)` gets every output line."""
        self._processes = processes
        self._on_line = on_line
        self._patience_s = patience_s
        self._stop = asyncio.Event()
        self._signalled = False
        self._exit_code = ExitCode.OK
        self._hurry = asyncio.Event()

    async def run(self) -> ExitCode:
        """Starts everything and returns when everything has ended."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._on_signal)
        try:
            await asyncio.gather(*map(self._keep, self._processes))
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)
        return self._exit_code

    def stop(self, exit_code: ExitCode = ExitCode.OK) -> None:
        """Ends everything; the worst exit code asked for wins over OK."""
        if self._exit_code is ExitCode.OK:
            self._exit_code = exit_code
        self._stop.set()

    @property
    def signalled(self) -> bool:
        """Whether a signal ended it, or is about to."""
        return self._signalled

    def _on_signal(self) -> None:
        if self._signalled:
            self._hurry.set()
        self._signalled = True
        self.stop()

    async def _keep(self, process: Ready) -> None:
        """Keeps one process running for as long as its policy and the system want it."""
        lives, delay_s = Lives(process.respawn), 0.0
        loop = asyncio.get_running_loop()
        while not await self._stopping_within(delay_s):
            began = loop.time()
            code = await self._run_once(process)
            if self._stop.is_set():
                return
            verdict = lives.ended(code, loop.time() - began)
            if verdict.text:
                self._on_line(process.label, verdict.text)
            if verdict.failure:
                self.stop(verdict.failure)
            if verdict.again_in_s is None:
                return
            delay_s = verdict.again_in_s

    async def _run_once(self, process: Ready) -> int:
        """One life of a process. Returns its exit code; FAILED if it cannot be started."""
        label = process.label
        try:
            child = Child(label, process.command, lambda text: self._on_line(label, text), process.environment)
        except OSError as error:  # no memory or no process left, a program that is being replaced: may pass
            self._on_line(label, f"cannot be started: {error.strerror}")
            return ExitCode.FAILED
        ended = asyncio.create_task(child.wait())
        asked = asyncio.create_task(self._stop.wait())
        await asyncio.wait({ended, asked}, return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        if not ended.done():
            await self._end(child)
            if child.killed:
                self._on_line(label, "did not end when asked and was killed")
                self.stop(ExitCode.FAILED)
        return await ended

    async def _end(self, child: Child) -> None:
        """Stops a child; a second signal to the supervisor shortens the wait."""
        stopping = asyncio.create_task(child.stop(self._patience_s))
        hurry = asyncio.create_task(self._hurry.wait())
        await asyncio.wait({stopping, hurry}, return_when=asyncio.FIRST_COMPLETED)
        hurry.cancel()
        if not stopping.done():
            stopping.cancel()
            await child.stop(min(HURRIED_S, self._patience_s))

    async def _stopping_within(self, delay_s: float) -> bool:
        """Waits `delay_s`, or less when everything is to end. Whether it is."""
        if delay_s > 0:
            try:
                await asyncio.wait_for(self._stop.wait(), delay_s)
            except asyncio.TimeoutError:
                return False
        return self._stop.is_set()
