# SPDX-License-Identifier: Apache-2.0
"""Real ground clients as functions: MAVSDK and MAVProxy, each in a process of its own with a deadline.

On a UDP port on 127.0.0.1 both listen and answer to where the vehicle's datagrams come from, so they work the same
directly at the vehicle and behind the tunnel.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_TERMINATE_S = 10.0
_RECEIVED = re.compile(r"Received (\d+) parameters")
_SAVED = re.compile(r"Saved (\d+) parameters to (.+)")


class SessionFailedError(RuntimeError):
    """A client did not do what it was started for; the text ends with what it printed last."""


def missing(module: str) -> str | None:
    """Return a sentence saying that a client is not installed, None when it is."""
    if importlib.util.find_spec(module) is not None:
        return None
    return f"{module} is not installed; pip install {module} to run this with a real ground client"


def _environment(home: Path) -> dict[str, str]:
    """Return an environment in which a client finds this package and writes nothing into the user's home."""
    path = os.pathsep.join(filter(None, (str(_PACKAGE_ROOT), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "HOME": str(home), "MPLCONFIGDIR": str(home)}


def _tail(text: str, lines: int = 15) -> str:
    return "\n".join(text.splitlines()[-lines:])


def mavsdk_session(url: str, timeout: float = 150.0) -> dict[str, Any]:
    """Fly the vehicle on `url` (for example udpin://127.0.0.1:14550) with MAVSDK; return what MAVSDK saw.

    Keys: see `mavsdk_client.fly`. Raises SessionFailedError.
    """
    with tempfile.TemporaryDirectory(prefix="mavsdk-") as folder:
        result_file = Path(folder) / "result.json"
        command = [sys.executable, "-m", "pqc_mav_sim.testing.mavsdk_client", url, str(result_file)]
        try:
            done = subprocess.run(
                command,
                env=_environment(Path(folder)),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise SessionFailedError(
                f"MAVSDK did not finish within {timeout:g} s:\n{_tail(str(error.output))}"
            ) from error
        if not result_file.exists():
            raise SessionFailedError(f"MAVSDK ended with code {done.returncode}:\n{_tail(done.stdout)}")
        result: dict[str, Any] = json.loads(result_file.read_text(encoding="utf-8"))
        if "error" in result:
            raise SessionFailedError(f"{result['error']}:\n{_tail(done.stdout)}")
        return result


class _Output:
    """Collects what a process prints, in a thread, so that it never blocks on a full pipe."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._lines: list[str] = []
        self._process = process
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        if self._process.stdout is not None:
            for line in self._process.stdout:
                self._lines.append(line)

    @property
    def text(self) -> str:
        return "".join(self._lines)


def mavproxy_param_session(where: int | str, timeout: float = 60.0) -> dict[str, Any]:
    """Let MAVProxy fetch the full parameter list of a vehicle.

    Args:
        where: a port on 127.0.0.1 to which the vehicle sends, or a `--master` of MAVProxy.
        timeout: in seconds.

    Returns:
        `count`, the number MAVProxy reports; `params`, name to value as MAVProxy saved them; `output`, what it printed.

    Raises SessionFailedError.
    """
    master = f"udpin:127.0.0.1:{where}" if isinstance(where, int) else where
    with tempfile.TemporaryDirectory(prefix="mavproxy-") as folder:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "MAVProxy.mavproxy", f"--master={master}"),
                *("--daemon", f"--state-basedir={folder}"),
            ],
            cwd=folder,
            env=_environment(Path(folder)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        output = _Output(process)
        try:
            saved = _wait_for_params(process, output, timeout)
            counts = _RECEIVED.findall(output.text)
            return {
                "count": int(counts[0]) if counts else None,
                "params": _read_param_file(Path(saved[2].strip())),
                "output": output.text,
            }
        finally:
            _end(process)


def _wait_for_params(process: subprocess.Popen[str], output: _Output, timeout: float) -> re.Match[str]:
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        saved = _SAVED.search(output.text)
        # the line ends with the file's name, so it has to be there as a whole
        if saved is not None and output.text[saved.end() : saved.end() + 1] == "\n":
            return saved
        if process.poll() is not None:
            raise SessionFailedError(f"MAVProxy ended with code {process.returncode}:\n{_tail(output.text)}")
        time.sleep(0.05)
    raise SessionFailedError(f"MAVProxy had no full parameter list within {timeout:g} s:\n{_tail(output.text)}")


def _read_param_file(path: Path) -> dict[str, float]:
    """Return the parameters of a file with a name and a value per line."""
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return {row[0]: float(row[1]) for row in rows if len(row) == 2}


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_TERMINATE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
