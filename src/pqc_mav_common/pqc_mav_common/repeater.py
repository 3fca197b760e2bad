# SPDX-License-Identifier: Apache-2.0
"""Does something again and again in a thread of its own, which is there only between `start` and `stop`.

A timer of the node would wake its executor several times for each call, which looks at every service and subscription
before it calls anybody: that costs more than what is called.
"""

import threading
from collections.abc import Callable


class Repeater:
    """Calls `work` every `period_s`, and `failed` with what it raised.

    Start and stop may come in any order, from one thread at a time.
    """

    def __init__(self, period_s: float, work: Callable[[], None], failed: Callable[[Exception], None]) -> None:
        self._period_s = period_s
        self._work = work
        self._failed = failed
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether there is a thread."""
        return self._thread is not None

    def start(self) -> None:
        """Begin, unless it runs."""
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, name="repeater", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End; nothing is called any more when this returns."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._stopping.set()
            thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(self._period_s):
            try:
                self._work()
            except Exception as error:  # the next time may be better, and somebody must hear of this one
                self._failed(error)
