# SPDX-License-Identifier: Apache-2.0
"""The proxies that are here, as processes, and what they are started with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import Running

HOST = "127.0.0.1"
NODE = "pqc_proxy"
KINDS = ("py", "cpp")
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


def gcs_parameters(keys: Path, drones: tuple[str, ...] = ("d1", "d2"), **changes: Any) -> dict[str, Any]:
    """A gcs on ports nobody uses."""
    return {
        "role": "gcs",
        "keys": str(keys / "gcs"),
        "bind": HOST,
        "data_port": free_port(),
        "drones": list(drones),
        "key_pool_depth": 0,
        **changes,
    }


def drone_parameters(keys: Path, data_port: int, **changes: Any) -> dict[str, Any]:
    """The drone d1 of such a gcs."""
    return {
        "role": "drone",
        "keys": str(keys / "drones" / "d1"),
        "drone_id": "d1",
        "peer": HOST,
        "bind": HOST,
        "data_port": data_port,
        "local_data_port": 0,
        "plain_bind": f"{HOST}:{free_port()}",
        **changes,
    }


def ros_arguments(parameters: dict[str, Any], namespace: str) -> list[str]:
    """The command line of these."""
    given = [word for name, value in parameters.items() for word in ("-p", f"{name}:={json.dumps(value)}")]
    return ["--ros-args", "-r", f"__ns:=/{namespace}", *given]


def start(kind: str, parameters: dict[str, Any], namespace: str, *further: str) -> Running:
    """A running proxy; kill it at the end."""
    environment = {"RCUTILS_CONSOLE_OUTPUT_FORMAT": "{severity} {message}", "PYTHONUNBUFFERED": "1"}
    return Running([*command(kind), *ros_arguments(parameters, namespace), *further], environment)


def outcome(kind: str, arguments: list[str]) -> tuple[int, str, str]:
    """Exit code, output and errors of a proxy that ends on its own."""
    line = [*command(kind), *arguments]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return ended.returncode, ended.stdout, ended.stderr
