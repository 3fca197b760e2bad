# SPDX-License-Identifier: Apache-2.0
"""The proxies that are here, as processes, and what they are started with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pqc_mav_common.local_socket import FOLDER_VARIABLE
from pqc_mav_common.testing import Running
from pqc_mav_common.testing_proxies import ros_arguments

NODE = "pqc_proxy"
KINDS = ("py", "cpp")
DRONES = ("d1", "d2")
SKIPPED = "no rclcpp: the proxy in C++ is not built here"
LIMIT_S = 60.0
PERIOD_S = 0.004  # between datagrams, short enough for what a rekey might lose


def installed(kind: str) -> list[str]:
    """How a proxy is started; empty where it is not here."""
    if kind == "py":
        return [sys.executable, "-m", "pqc_mav_proxy.main"]
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        program = Path(prefix) / "lib" / "pqc_mav_proxy_cpp" / NODE
        if prefix and program.is_file():
            return [str(program)]
    return []


def command(kind: str) -> list[str]:
    """How a proxy is started; skips the test where it is not here."""
    return installed(kind) or pytest.skip(SKIPPED)


def start(kind: str, parameters: dict[str, Any], namespace: str, *further: str) -> Running:
    """A running proxy; kill it at the end."""
    environment = {"RCUTILS_CONSOLE_OUTPUT_FORMAT": "{severity} {message}", "PYTHONUNBUFFERED": "1"}
    return Running([*command(kind), *ros_arguments(parameters, namespace), *further], environment)


def guard(kind: str, namespace: str, folder: Path) -> list[Running]:
    """What watches the machine of a proxy whose control socket is in a folder: nothing more for the one in Python."""
    if kind == "py":
        return []
    program = [sys.executable, "-m", "pqc_mav_proxy.guard_node", *ros_arguments({}, namespace)]
    return [Running(program, {FOLDER_VARIABLE: str(folder)})]


def outcome(kind: str, arguments: list[str]) -> tuple[int, str, str]:
    """Exit code, output and errors of a proxy that ends on its own."""
    line = [*command(kind), *arguments]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return ended.returncode, ended.stdout, ended.stderr
