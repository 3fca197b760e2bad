# SPDX-License-Identifier: Apache-2.0
"""Raw power samples to a CSV file, written while sampling goes on; the file gets its name only when it is complete."""

import os
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path

from pqc_mav_sensing.errors import SensorError

HEADER = "monotonic_s,voltage_v,current_a,power_w\n"
FLUSH_S = 0.5
# A quarter of an hour at 1 kHz; a disk that cannot take it for so long loses samples, and the file says how many.
MOST_WAITING = 1_000_000


class PowerTrace:
    """Records until `finish`. `add` never blocks and may be called from any thread."""

    def __init__(self, path: Path) -> None:
        """Opens `<path>.part`. Raises SensorError when the folder cannot be written to."""
        self.path = path
        self._part = path.with_name(path.name + ".part")
        self._waiting: deque[tuple[float, float, float, float]] = deque()
        self._stop = threading.Event()
        self.samples = 0
        self.lost = 0
        self._failure = ""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._part.open("x", encoding="ascii")
            self._file.write(HEADER)
        except OSError as error:
            raise SensorError(f"the trace {path} cannot be written: {error.strerror}") from None
        self._thread = threading.Thread(target=self._run, name="power-trace")
        self._thread.start()

    def add(self, at_s: float, volts: float, amperes: float, watts: float) -> None:
        """Take one sample."""
        if len(self._waiting) >= MOST_WAITING or self._failure:
            self.lost += 1
        else:
            self._waiting.append((at_s, volts, amperes, watts))

    def finish(self) -> int:
        """Writes the rest, makes it safe on disk and gives the file its name. Returns the samples in it.

        Raises SensorError when samples were lost or the disk failed; what was written then stays as `.part`.
        """
        self._stop.set()
        self._thread.join()
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            self._failure = self._failure or str(error.strerror)
        with suppress(OSError):  # it tries once more to write what is left
            self._file.close()
        if self._failure or self.lost:
            why = self._failure or "the disk is too slow"
            raise SensorError(f"the trace {self._part} lacks {self.lost} samples: {why}")
        try:
            self._part.replace(self.path)
        except OSError as error:
            raise SensorError(f"the trace {self._part} cannot get its name: {error.strerror}") from None
        return self.samples

    def _run(self) -> None:
        while not self._stop.wait(FLUSH_S):
            self._drain()
        self._drain()

    def _drain(self) -> None:
        try:
            while self._waiting:
                self._file.write("{:.6f},{:.4f},{:.5f},{:.5f}\n".format(*self._waiting.popleft()))
                self.samples += 1
        except OSError as error:
            self._failure = str(error.strerror)
            self.lost += len(self._waiting) + 1
            self._waiting.clear()
