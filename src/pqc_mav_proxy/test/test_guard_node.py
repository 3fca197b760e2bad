# SPDX-License-Identifier: Apache-2.0
"""The guard in a process of its own, beside an engine that it knows by its control socket alone."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
from diagnostic_msgs.msg import DiagnosticArray

from pqc_mav_common import qos
from pqc_mav_common.diagnostics import Level
from pqc_mav_common.local_socket import FOLDER_VARIABLE, Control, Place
from pqc_mav_common.siblings import MARK, MAVROS, new_mark
from pqc_mav_common.testing import Running, until
from pqc_mav_common.testing_network import fake_mavros, running_mavros
from pqc_mav_common.testing_onlooker import Onlooker, diagnosed, run_twice
from pqc_mav_common.testing_proxies import gcs_parameters, ros_arguments

__all__ = ["fake_mavros"]

COMMAND = [sys.executable, "-m", "pqc_mav_proxy.guard_node"]
ANY = "0.0.0.0"


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of the system in this process, whose engines have their sockets in `tmp_path`."""
    made = new_mark()
    monkeypatch.setenv(MARK, made)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return made


@pytest.fixture
def engine(keys: Path, mark: str) -> Iterator[Any]:
    made = pqc_mav_tunnel.Engine(gcs_parameters(keys, bind=""))
    made.start()
    yield made
    made.stop()


def test_it_runs_and_leaves_the_graph(tmp_path: Path) -> None:
    first, again = run_twice(COMMAND, "/d7", ["pqc_guard"], [], tmp_path)
    assert first == again


def test_what_it_finds_reaches_diagnostics_log_and_engine(engine: Any, mark: str, fake_mavros: Path) -> None:
    arrays: list[DiagnosticArray] = []

    def told() -> list[str]:
        with Control(Place(Path(engine.control_socket()))) as door:
            return list(door.ask("status")["dangers"])

    def sockets() -> tuple[int, str]:
        return diagnosed(arrays, "apart/pqc_proxy: sockets")

    # Also one in the engine's own process, into which nobody else may look: a container may hold mavros too.
    with closing(socket.create_server((ANY, 0))) as held, running_mavros(fake_mavros, ANY, mark=mark) as mavros:
        guard = Running([*COMMAND, *ros_arguments({}, "apart")])
        try:
            with Onlooker() as onlooker:
                arrays = onlooker.collect(DiagnosticArray, "/diagnostics", qos.periodic(8))
                until(lambda: sockets()[0] == Level.ERROR, "the holes")
                said = sockets()[1]
                assert f"{MAVROS} (process {mavros.pid}): {mavros.text}" in said
                assert f"(process {os.getpid()}): TCP {ANY}:{held.getsockname()[1]}" in said
                assert f":{engine.ports()['data']}," not in said, "the tunnel's port is meant to be open"
                assert diagnosed(arrays, "apart/pqc_proxy: mavros")[0] == Level.OK
                # A test beside this one may have a mavros of its own, which is told too.
                until(lambda: told() == [sockets()[1]], "the engine was told")
                guard.wait_for(f"{MAVROS} (process {mavros.pid}): {mavros.text}")
                held.close()
                os.kill(mavros.pid, signal.SIGKILL)
                until(lambda: sockets()[0] < Level.ERROR and told() == [], "the holes closed")
        finally:
            guard.kill()
