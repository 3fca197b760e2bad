# SPDX-License-Identifier: Apache-2.0
"""The parent's handle on a worker process."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from typing import Any

from pqc_mav_bench import child
from pqc_mav_bench.errors import BenchError
from pqc_mav_bench.workload.spec import EndSpec

START_S = 15.0  # importing the MAVLink dialect takes a second on a slow machine
ANSWER_S = 10.0


class WorkerError(BenchError):
    """The traffic process refused, died or did not answer."""


class WorkerProcess:
    """Starts the worker at once, so that its imports are done before the first run; and again should it have died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._ensure()

    @property
    def pid(self) -> int:
        """Process id; 0 when it does not run."""
        process = self._process
        return 0 if process is None or process.poll() is not None else process.pid

    def start(self, spec: EndSpec) -> None:
        """Starts the traffic of a run. Raises WorkerError."""
        self._ask({"command": "start", "spec": spec.model_dump(mode="json")}, START_S)

    def quiet(self) -> int:
        """Stops sending. Returns how many were sent. Raises WorkerError."""
        return int(self._ask({"command": "quiet"}, ANSWER_S)["sent"])

    def stop(self, expected: int = 0) -> dict[str, Any]:
        """Ends the traffic when the `expected` ones have arrived, or no more come. Returns the counts.

        Raises WorkerError.
        """
        result: dict[str, Any] = self._ask({"command": "stop", "expected": expected}, ANSWER_S)["result"]
        return result

    def close(self) -> None:
        """Ends the process."""
        with self._lock:
            process, self._process = self._process, None
            if process is not None:
                child.end(process)

    def _ensure(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is not None and process.poll() is None:
            return process
        if process is not None:
            child.end(process)
        command = [sys.executable, "-m", "pqc_mav_bench.workload.worker"]
        self._buffer = b""
        self._process = child.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._process

    def _ask(self, command: dict[str, Any], limit_s: float) -> dict[str, Any]:
        with self._lock:
            process = self._ensure()
            assert process.stdin is not None
            try:
                process.stdin.write((json.dumps(command) + "\n").encode())
                answer = self._answer(process, limit_s)
            except (OSError, ValueError) as error:
                child.end(process)
                self._process = None
                raise WorkerError(f"The traffic generator failed at '{command['command']}': {error}.") from None
        if not answer["ok"]:
            raise WorkerError(f"The traffic generator refused '{command['command']}': {answer['message']}.")
        return answer

    def _answer(self, process: subprocess.Popen[bytes], limit_s: float) -> dict[str, Any]:
        assert process.stdout is not None
        deadline = time.monotonic() + limit_s
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                raise OSError(f"no answer within {limit_s:g} s")
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise OSError("it ended")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer
