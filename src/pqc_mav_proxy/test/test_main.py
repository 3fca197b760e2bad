# SPDX-License-Identifier: Apache-2.0
"""The process from outside: bad input gives one clear line and a code, signals end it cleanly."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from pqc_mav_common.testing import Running
from pqc_mav_common.testing_onlooker import run_twice
from pqc_mav_common.testing_proxies import drone_parameters, gcs_parameters, parameter_arguments, ros_arguments

DEADLINE_S = 60.0
COMMAND = [sys.executable, "-m", "pqc_mav_proxy.main"]


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=DEADLINE_S, check=False)


def refused(parameters: dict[str, Any], code: int, *said: str) -> None:
    """The process ends on its own with `code` and one line that contains all of `said`."""
    ended = run(ros_arguments(parameters, "t"))
    lines = ended.stderr.splitlines()
    assert ended.returncode == code, ended.stderr
    assert len(lines) == 1 and lines[0].startswith("pqc_proxy: error: "), ended.stderr
    for words in said:
        assert words in lines[0]


@pytest.fixture
def gcs(keys: Path) -> dict[str, Any]:
    return gcs_parameters(keys)


@pytest.fixture
def drone(keys: Path, gcs: dict[str, Any]) -> dict[str, Any]:
    return drone_parameters(keys, gcs["data_port"])


def test_key_file_readable_by_the_group(keys: Path, gcs: dict[str, Any], tmp_path: Path) -> None:
    import pqc_mav_tunnel

    pqc_mav_tunnel.export_drone(str(keys), "d1", str(tmp_path / "d1"))
    (tmp_path / "d1" / "psk.key").chmod(0o640)
    parameters = drone_parameters(keys, gcs["data_port"])
    refused({**parameters, "keys": str(tmp_path / "d1")}, 2, "psk.key", "chmod")


@pytest.mark.parametrize("role", ["gcs", "drone"])
def test_it_can_be_dumped_relaunched_from_that_and_leaves_the_graph(
    role: str, keys: Path, gcs: dict[str, Any], drone: dict[str, Any], tmp_path: Path
) -> None:
    given = {"gcs": gcs_parameters(keys, ("d1", "d2")), "drone": drone}[role]
    first, again = run_twice(COMMAND, f"/dump_{role}", ["pqc_proxy"], parameter_arguments(given), tmp_path)
    assert first == again
    shown = yaml.safe_load(first)[f"/dump_{role}/pqc_proxy"]["ros__parameters"]
    assert {name: shown[name] for name in given} == given
    if role == "gcs":
        assert shown["allowed_suites"] == [] and shown["drone"]["d2"]["allowed_suites"] == []


def proxy(parameters: dict[str, Any], namespace: str) -> Running:
    environment = {"RCUTILS_CONSOLE_OUTPUT_FORMAT": "{severity} {message}", "PYTHONUNBUFFERED": "1"}
    return Running([*COMMAND, *ros_arguments(parameters, namespace)], environment)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_pair_comes_up_and_ends_cleanly_on_signals(keys: Path, gcs: dict[str, Any], number: signal.Signals) -> None:
    ground = proxy(gcs, f"g{number}")
    air = proxy(drone_parameters(keys, gcs["data_port"]), f"d{number}")
    try:
        air.wait_for("-> UP")
        ground.wait_for("-> UP")
        assert air.end(number) == 0
        ground.wait_for("UP -> DOWN")
        assert ground.end(number) == 0
    finally:
        air.kill()
        ground.kill()
    said = "\n".join(air.lines + ground.lines)
    assert "Traceback" not in said
    for secret in keys.rglob("*.key"):
        # A key file's last line is the key itself.
        assert secret.read_text().splitlines()[-1] not in said


@pytest.mark.parametrize("bind", ["", "127.0.0.1"])
def test_a_peer_that_does_not_resolve_yet_is_said_once_and_waited_for(drone: dict[str, Any], bind: str) -> None:
    """A drone boots before its network: it must neither end nor fill its log."""
    air = proxy({**drone, "bind": bind, "peer": "no-such-host.invalid"}, "boot")
    try:
        air.wait_for("Cannot resolve 'no-such-host.invalid'")
        time.sleep(5.0)  # several more attempts
        assert air.end(signal.SIGTERM) == 0
    finally:
        air.kill()
    assert len([line for line in air.lines if "Cannot resolve" in line]) == 1
    assert "Traceback" not in "\n".join(air.lines)


def test_core_dumps_are_forbidden(drone: dict[str, Any]) -> None:
    air = proxy({**drone, "peer": "no-such-host.invalid"}, "core")
    try:
        air.wait_for("Cannot resolve")
        limits = Path(f"/proc/{air.process.pid}/limits").read_text().splitlines()
        (core,) = [line.split() for line in limits if line.startswith("Max core file size")]
        assert core[4:6] == ["0", "0"]
    finally:
        air.kill()
