# SPDX-License-Identifier: Apache-2.0
"""A thread for work that must not block an executor: reading sensors at their own pace."""

import threading
import time
from collections.abc import Callable


class SamplingThread:
    """Calls `step(now)`, which returns when it wants to be called next (monotonic seconds), until it is stopped.

    A step that raises is reported through `on_error` and called again a second later: a sensor's thread does not end.
    """

    AFTER_ERROR_S = 1.0
    # An Event's wait wakes up to a millisecond late; below this a plain sleep keeps the pace.
    _SHORT_S = 0.01

    def __init__(self, name: str, step: Callable[[float], float], on_error: Callable[[Exception], None]) -> None:
        self._step, self._on_error = step, on_error
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End and wait for the step under way."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                wake_s = self._step(time.monotonic())
            except Exception as error:
                self._on_error(error)
                wake_s = time.monotonic() + self.AFTER_ERROR_S
            left_s = wake_s - time.monotonic()
            if left_s > self._SHORT_S:
                self._stop.wait(left_s)
            elif left_s > 0:
                time.sleep(left_s)
