# SPDX-License-Identifier: Apache-2.0
"""A launch file under the service that `ros2 launch` runs, in its own process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from commands import DEADLINE_S

from pqc_mav_bringup.executables import of_package
from pqc_mav_bringup.proxy import NODE, PACKAGES, PY
from pqc_mav_common.free_ports import free_port
from pqc_mav_common.local_socket import DAEMON, INSIDE
from pqc_mav_common.testing import Running

# Those that are installed, with each place that their engine may have: what is launched is launched with each.
PROXIES = [kind for kind, package in PACKAGES.items() if of_package(package, NODE)]
ARRANGEMENTS = [
    pytest.param({"proxy": kind, "tunnel": tunnel}, id=f"{kind}-{tunnel}")
    for kind in PROXIES
    for tunnel in ((INSIDE, DAEMON) if kind == PY else (INSIDE,))
]
# With `remaps` in a group's scope, as in a launch file of a user's own.
PROGRAM = """
import json, sys
from launch import LaunchDescription, LaunchService
from launch.actions import GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import SetRemap
path, arguments, remaps = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
include = IncludeLaunchDescription(PythonLaunchDescriptionSource(path), launch_arguments=arguments.items())
service = LaunchService()
service.include_launch_description(
    LaunchDescription([GroupAction([*(SetRemap(*pair) for pair in remaps.items()), include])])
)
sys.exit(service.run())
"""


def launch_file(package: str, name: str) -> Path:
    """Where a launch file is installed."""
    from ament_index_python.packages import get_package_share_directory

    return Path(get_package_share_directory(package)) / "launch" / f"{name}.launch.py"


@contextmanager
def launched(
    name: str,
    package: str = "pqc_mav_bringup",
    environment: dict[str, str] | None = None,
    remaps: dict[str, str] | None = None,
    /,
    **arguments: object,
) -> Iterator[Running]:
    """A launch file that runs for the time of the block; its output lines are collected."""
    import json

    given = json.dumps({key: str(value) for key, value in arguments.items()})
    command = [sys.executable, "-c", PROGRAM, str(launch_file(package, name)), given, json.dumps(remaps or {})]
    running = Running(command, environment)
    try:
        yield running
        # As at Ctrl-C in a terminal, which tells the whole group.
        if running.process.poll() is None:
            started = processes(running)
            os.killpg(running.process.pid, signal.SIGINT)
            assert running.process.wait(DEADLINE_S) == 0, "\n".join(running.lines)
            _, left = psutil.wait_procs(started, timeout=DEADLINE_S)
            assert not left, left
    finally:
        running.kill()


def processes(running: Running) -> list[psutil.Process]:
    """What a launch has started and still has."""
    return psutil.Process(running.process.pid).children(recursive=True)


def process_of(running: Running, executable: str) -> psutil.Process | None:
    """The process of one executable; None while there is none."""
    for process in processes(running):
        with suppress(psutil.NoSuchProcess):
            if any(Path(part).name == executable for part in process.cmdline()[:3]):
                return process
    return None


def tap() -> str:
    """An address for a battery node of its own."""
    return f"127.0.0.1:{free_port()}"
