# SPDX-License-Identifier: Apache-2.0
"""The engine by the program `pqcmav-tunneld`, if its module for Python is not installed.

The module is compiled for one version of Python. The Debian package of the command runs with any, so it asks the
daemon's program, which has the same engine inside, and an end of its own is that program as a child.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROGRAM = "pqcmav-tunneld"
LIMIT_S = 600.0  # making the keys of a large fleet
START_S = 60.0
ANSWER_S = 10.0
_DEATH_SIGNAL, _DUMPABLE = 1, 4  # prctl's PR_SET_PDEATHSIG, PR_SET_DUMPABLE
_USAGE = 2  # the program's exit code for a configuration or keys that are not good


class TunnelError(RuntimeError):
    """A refusal of the engine: one sentence, and its code."""

    code: str

    def __init__(self, sentence: str, code: str) -> None:
        super().__init__(sentence)
        self.code = code


def _program() -> str:
    program = shutil.which(PROGRAM)
    if program is None:
        raise TunnelError(f"The engine is not here: neither its Python module nor the program {PROGRAM}.", "state")
    return program


def call(name: str, arguments: str) -> str:
    """Answer one of the calls of `_calls.py`: arguments and result are JSON. Raises TunnelError."""
    program = _program()
    try:
        ended = subprocess.run(
            [program, "--call", name], input=arguments, stdout=subprocess.PIPE, text=True, check=False, timeout=LIMIT_S
        )
        answer = json.loads(ended.stdout)
        if "error" in answer:
            raise TunnelError(answer["error"], answer["code"])
        return json.dumps(answer["result"])
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TunnelError(f"{program} did not answer: {error}", "io") from None
    except (ValueError, KeyError, TypeError):
        raise TunnelError(
            f"{program} ended with {ended.returncode} without an answer: is it of this version?", "io"
        ) from None


def forbid_core_dumps() -> str:
    """Forbid this process core dumps, and others to look into its memory; the program forbids its own.

    Returns a sentence for the log where that was not done, else "".
    """
    if os.environ.get("PQCMAV_CORE_DUMPS") == "1":
        return "Core dumps are allowed (PQCMAV_CORE_DUMPS=1): one would contain the session keys."
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (OSError, ValueError) as error:
        return f"Cannot forbid core dumps: {error}; one would contain the session keys."
    return "" if _prctl(_DUMPABLE, 0) == 0 else "Cannot forbid core dumps; one would contain the session keys."


def _prctl(option: int, value: int) -> int:
    return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0))


def _end_with_the_parent() -> None:
    _prctl(_DEATH_SIGNAL, signal.SIGTERM)


class Engine:
    """One end of the tunnel, as the module's of this name: of that what a short session needs.

    Its control socket is in a folder of its own; whatever `control_socket` says counts for nothing.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Write the configuration down; `start` reads it."""
        self._folder = tempfile.TemporaryDirectory(prefix="pqcmav-engine-")
        self._process: subprocess.Popen[bytes] | None = None
        self._socket = Path(self._folder.name) / "socket"
        values = {**config, "control_socket": str(self._socket)}
        # JSON is YAML, too.
        self._place("yaml").write_text("".join(f"{key}: {json.dumps(each)}\n" for key, each in values.items()), "utf-8")

    def _place(self, kind: str) -> Path:
        return Path(self._folder.name) / f"engine.{kind}"

    def start(self) -> None:
        """Return when it carries packets. Raises TunnelError with the program's own sentence."""
        log = self._place("log")
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [_program(), str(self._place("yaml"))],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=_end_with_the_parent,
            )  # fmt: skip
        until_s = time.monotonic() + START_S
        while self._process.poll() is None and time.monotonic() < until_s:
            if f"{PROGRAM} " in log.read_text("utf-8", "replace"):  # its version and ports
                return
            time.sleep(0.01)
        code = self._process.poll()
        said = log.read_text("utf-8", "replace").strip().rpartition("\n")[2].removeprefix(f"{PROGRAM}: ")
        self.stop()
        raise TunnelError(said or f"{PROGRAM} did not start.", "config_invalid" if code == _USAGE else "io")

    def stop(self) -> None:
        """End it; may be called more than once."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(ANSWER_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._folder.cleanup()

    def _ask(self, command: str) -> Any:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
                asked.settimeout(ANSWER_S)
                asked.connect(str(self._socket))
                asked.sendall(json.dumps({"v": 1, "command": command}).encode() + b"\n")
                with asked.makefile("rb") as answers:
                    return json.loads(answers.readline())["result"]
        except (OSError, ValueError, KeyError) as error:
            raise TunnelError(f"{PROGRAM} did not answer: {error}", "io") from None

    def status(self) -> list[dict[str, Any]]:
        """Return what is known of each drone."""
        found: list[dict[str, Any]] = self._ask("status")["tunnels"]
        return found

    def stats(self) -> list[dict[str, Any]]:
        """Return the counters of each drone."""
        found: list[dict[str, Any]] = self._ask("stats")["tunnels"]
        return found

    def totals(self) -> dict[str, int]:
        """Return the counters of the process."""
        found: dict[str, int] = self._ask("stats")["totals"]
        return found

    def ports(self) -> dict[str, Any]:
        """Return the UDP port of the encrypted side as `data`."""
        return {"data": self._ask("status")["data_port"]}
