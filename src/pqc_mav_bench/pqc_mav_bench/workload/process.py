# SPDX-License-Identifier: Apache-2.0
"""The parent's handle on a worker process."""

import sys
import threading
from typing import Any

from pqc_mav_bench.errors import BenchError
from pqc_mav_bench.workload.spec import EndSpec
from pqc_mav_common.helper import Helper, HelperError

START_S = 15.0  # importing the MAVLink dialect takes a second on a slow machine
ANSWER_S = 10.0


class WorkerError(BenchError):
    """The traffic process refused, died or did not answer."""


class WorkerProcess:
    """Starts the worker at once, so that its imports are done before the first run; and again should it have died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._helper: Helper | None = None
        self._ensure()

    @property
    def pid(self) -> int:
        """Process id; 0 when it does not run."""
        helper = self._helper
        return 0 if helper is None or helper.process.poll() is not None else helper.pid

    def start(self, spec: EndSpec) -> None:
        """Starts the traffic of a run. Raises WorkerError."""
        self._ask("start", START_S, spec=spec.model_dump(mode="json"))

    def quiet(self) -> int:
        """Stops sending. Returns how many were sent. Raises WorkerError."""
        return int(self._ask("quiet"))

    def stop(self, expected: int = 0) -> dict[str, Any]:
        """Ends the traffic when the `expected` ones have arrived, or no more come. Returns the counts.

        Raises WorkerError.
        """
        result: dict[str, Any] = self._ask("stop", expected=expected)
        return result

    def close(self) -> None:
        """Ends the process."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        helper, self._helper = self._helper, None
        if helper is not None:
            helper.close()

    def _ensure(self) -> Helper:
        if self._helper is None or self._helper.process.poll() is not None:
            self._end()
            self._helper = Helper([sys.executable, "-m", "pqc_mav_bench.workload.worker"])
        return self._helper

    def _ask(self, do: str, limit_s: float = ANSWER_S, **arguments: Any) -> Any:
        with self._lock:
            try:
                return self._ensure().ask(do, limit_s, **arguments)
            except HelperError as error:
                if error.refused:
                    raise WorkerError(f"The traffic generator refused '{do}': {error}.") from None
                self._end()
                raise WorkerError(f"The traffic generator failed at '{do}': {error}.") from None
