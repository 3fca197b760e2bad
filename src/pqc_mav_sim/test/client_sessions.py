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
from pathlib import Path
from typing import Any

from pqc_mav_common.child import Program, ProgramError, end

_RECEIVED = re.compile(r"Received (\d+) parameters")
_SAVED = r"Saved (\d+) parameters to (.+)"


class SessionFailedError(RuntimeError):
    """A client did not do what it was started for; the text ends with what it printed last."""


def missing(module: str) -> str | None:
    """Return a sentence saying that a client is not installed, None when it is."""
    if importlib.util.find_spec(module) is not None:
        return None
    return f"{module} is not installed; pip install {module} to run this with a real ground client"


def _environment(home: Path) -> dict[str, str]:
    """Return an environment in which a client writes nothing into the user's home."""
    return {**os.environ, "PYTHONUNBUFFERED": "1", "HOME": str(home), "MPLCONFIGDIR": str(home)}


def _tail(text: str, lines: int = 15) -> str:
    return "\n".join(text.splitlines()[-lines:])


def mavsdk_session(url: str, timeout: float = 150.0) -> dict[str, Any]:
    """Fly the vehicle on `url` (for example udpin://127.0.0.1:14550) with MAVSDK; return what MAVSDK saw.

    Keys: see `mavsdk_client.fly`. Raises SessionFailedError.
    """
    with tempfile.TemporaryDirectory(prefix="mavsdk-") as folder:
        result_file = Path(folder) / "result.json"
        command = [sys.executable, str(Path(__file__).with_name("mavsdk_client.py")), url, str(result_file)]
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
        command = [sys.executable, "-m", "MAVProxy.mavproxy", f"--master={master}"]
        command += ["--daemon", f"--state-basedir={folder}"]
        options = {"cwd": folder, "env": _environment(Path(folder)), "stdin": subprocess.DEVNULL}
        program = Program("MAVProxy", command, limit_s=timeout, **options)
        try:
            saved = program.wait_for(_SAVED)
            output = "\n".join(program.lines)
            counts = _RECEIVED.findall(output)
            return {
                "count": int(counts[0]) if counts else None,
                "params": _read_param_file(Path(saved[2].strip())),
                "output": output,
            }
        except ProgramError:
            code = program.process.poll()
            what = f"had no full parameter list within {timeout:g} s" if code is None else f"ended with code {code}"
            raise SessionFailedError(f"MAVProxy {what}:\n" + "\n".join(program.lines[-15:])) from None
        finally:
            end(program.process)


def _read_param_file(path: Path) -> dict[str, float]:
    """Return the parameters of a file with a name and a value per line."""
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return {row[0]: float(row[1]) for row in rows if len(row) == 2}
