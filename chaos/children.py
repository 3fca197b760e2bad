# SPDX-License-Identifier: Apache-2.0
"""Child processes that speak JSON lines, end with their parent whatever happens to it, and may live in a namespace."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pqc_mav_common.child import die_with
from pqc_mav_sim.impairment import netns

HERE = Path(__file__).resolve().parent
_CLOSE_S = 5.0


class ChildError(RuntimeError):
    """A child refused a command, or ended instead of answering."""


def spawn(command: Sequence[str], *, namespace: int | None = None, **options: Any) -> subprocess.Popen[bytes]:
    """Start a process in a network namespace (descriptor). The kernel kills it when the calling thread ends.

    Call it from the main thread only. It gets a session of its own, so that Ctrl-C reaches the parent alone.
    """

    bind_to_parent = die_with(os.getpid())

    def prepare() -> None:
        bind_to_parent()
        if namespace is not None:
            netns.enter(namespace)

    return subprocess.Popen(command, preexec_fn=prepare, start_new_session=True, **options)


class Child:
    """A helper script of this folder, or a program that is built. `ask` waits for the answer, `begin` returns at once
    with a way to wait for it.
    """

    def __init__(
        self,
        script: str | Sequence[str] | Path,
        *,
        namespace: int | None = None,
        pass_fds: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        if isinstance(script, Path):
            command = [str(script)]
        else:
            command = [sys.executable, str(HERE / script)] if isinstance(script, str) else [sys.executable, *script]
        self.process = spawn(
            [*prefix, *command], namespace=namespace, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            pass_fds=pass_fds, env={**os.environ, **(environment or {})},
        )  # fmt: skip
        self._ids = itertools.count(1)
        self._answers: dict[int, queue.SimpleQueue[dict[str, Any] | None]] = {}
        self._ended = False
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Of the child."""
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
        """Send a command; the returned function waits up to so many seconds for its result or raises ChildError."""
        number = next(self._ids)
        answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        with self._lock:
            if self._ended:
                raise ChildError(f"cannot '{do}': the process has ended")
            self._answers[number] = answers
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"id": number, "do": do, **arguments}).encode() + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise ChildError(f"cannot '{do}': the process has ended") from error

        def wait(timeout_s: float) -> Any:
            try:
                answer = answers.get(timeout=timeout_s)
            except queue.Empty:
                raise ChildError(f"'{do}' was not answered within {timeout_s:g} s") from None
            if answer is None:
                raise ChildError(f"the process ended before it answered '{do}'")
            if not answer["ok"]:
                raise ChildError(answer["error"])
            return answer["result"]

        return wait

    def ask(self, do: str, timeout_s: float = 20.0, **arguments: Any) -> Any:
        """Send a command and return its result; raise ChildError when it failed or took too long."""
        return self.begin(do, **arguments)(timeout_s)

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        self.process.kill()
        self._reap()

    def close(self) -> None:
        """Close its input, which ends it; by force after a while."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_CLOSE_S)
        self.kill()

    def _reap(self) -> None:
        self.process.wait()
        self._reader.join(_CLOSE_S)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def serve(obey: Callable[[dict[str, Any]], Any], *, in_threads: frozenset[str] = frozenset()) -> None:
    """A child's main loop: obey each command line until the input ends. Those named in `in_threads` run in threads."""
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
