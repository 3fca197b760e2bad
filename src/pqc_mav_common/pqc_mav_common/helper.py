# SPDX-License-Identifier: Apache-2.0
"""A helper process that obeys commands, a JSON object on a line each; both sides of it. It ends with its input."""

import contextlib
import itertools
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from pqc_mav_common import child


class HelperError(RuntimeError):
    """A helper refused a command (`refused`), or ended instead of answering, or took too long."""

    def __init__(self, text: str, *, refused: bool = False) -> None:
        super().__init__(text)
        self.refused = refused


class Helper:
    """The parent's side. `ask` waits for the answer, `begin` returns at once with a way to wait for it."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        """`options` are those of `child.start`. Raises OSError."""
        self.process = child.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self._ids = itertools.count(1)
        self._answers: dict[int, queue.SimpleQueue[dict[str, Any] | None]] = {}
        self._ended = False
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Of the helper."""
        return self.process.pid

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer = json.loads(line)
            with self._lock:
                waiting = self._answers.pop(answer["id"], None)
            if waiting is not None:
                waiting.put(answer)
        with self._lock:
            self._ended = True
            left = list(self._answers.values())
            self._answers.clear()
        for each in left:
            each.put(None)

    def begin(self, do: str, **arguments: Any) -> Callable[[float], Any]:
        """Sends a command; the returned function waits up to so many seconds for its result or raises HelperError."""
        number = next(self._ids)
        answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        with self._lock:
            if self._ended:
                raise HelperError(f"cannot '{do}': the process has ended")
            self._answers[number] = answers
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"id": number, "do": do, **arguments}).encode() + b"\n")
            self.process.stdin.flush()
        except (OSError, ValueError) as error:  # ValueError: closed
            raise HelperError(f"cannot '{do}': the process has ended") from error

        def wait(timeout_s: float) -> Any:
            try:
                answer = answers.get(timeout=timeout_s)
            except queue.Empty:
                raise HelperError(f"'{do}' was not answered within {timeout_s:g} s") from None
            if answer is None:
                raise HelperError(f"the process ended before it answered '{do}'")
            if not answer["ok"]:
                raise HelperError(answer["error"], refused=True)
            return answer["result"]

        return wait

    def ask(self, do: str, timeout_s: float = 20.0, **arguments: Any) -> Any:
        """Sends a command and returns its result; raises HelperError when it failed or took too long."""
        return self.begin(do, **arguments)(timeout_s)

    def kill(self) -> None:
        """SIGKILL, and the end."""
        self.process.kill()
        self._close()

    def close(self) -> None:
        """Closes its input, which ends it; by force after a while."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(child.END_S)
        self.kill()

    def _close(self) -> None:
        self.process.wait()
        self._reader.join(child.END_S)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def serve(obey: Callable[[dict[str, Any]], Any], *, in_threads: frozenset[str] = frozenset()) -> None:
    """The helper's main loop: obeys each command until the input ends. Those named in `in_threads` run in threads."""
    lock = threading.Lock()

    def handle(command: dict[str, Any]) -> None:
        try:
            answer = {"id": command["id"], "ok": True, "result": obey(command)}
        except Exception as error:  # whatever it is, the parent must learn of it
            answer = {"id": command["id"], "ok": False, "error": f"{type(error).__name__}: {error}"}
        with lock:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()

    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] in in_threads:
            threading.Thread(target=handle, args=(command,), daemon=True).start()
        else:
            handle(command)
