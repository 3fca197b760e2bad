# SPDX-License-Identifier: Apache-2.0
"""The process from outside: bad input gives one clear line and a code, signals end it cleanly."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from pqc_mav_common.free_ports import free_port
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


def test_unknown_key_suggests_the_right_one(drone: dict[str, Any]) -> None:
    refused({**drone, "sutie": "x"}, 2, "sutie", "suite")


def test_a_drone_named_twice(gcs: dict[str, Any]) -> None:
    refused({**gcs, "drones": ["d1", "d1"]}, 2, "drones", "d1")


def test_autostart_is_true_or_false(gcs: dict[str, Any]) -> None:
    refused({**gcs, "autostart": "later"}, 2, "'autostart' of pqc_proxy is 'later'; it must be true or false.")


def test_a_parameter_file_that_is_not_there() -> None:
    ended = run(["--ros-args", "--params-file", "/none.yaml"])
    line = "pqc_proxy: error: Cannot read the configuration file /none.yaml: No such file or directory.\n"
    assert (ended.returncode, ended.stderr) == (2, line)


def test_unknown_key_of_one_drone(gcs: dict[str, Any]) -> None:
    refused({**gcs, "drone.d1.plain_pear": "x"}, 2, "drone.d1.plain_pear", "drone.d1.plain_peer")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("dscp", 64, "between 0 and 63"),
        ("replay_window", 65, "multiple of 64"),
        ("keepalive_s", "fast", "must be a number"),
        ("hybrid", 1, "true or false"),
        ("drone_id", "Drone One", "valid id"),
        ("drone_id", 1, "must be a string"),
    ],
)
def test_values_out_of_range_or_of_the_wrong_type(drone: dict[str, Any], key: str, value: object, said: str) -> None:
    refused({**drone, key: value}, 2, key, said)


def test_unknown_suite_names_the_closest(drone: dict[str, Any]) -> None:
    refused({**drone, "suite": "cs-mlkem768-aesgcm-mldsa56"}, 2, "cs-mlkem768-aesgcm-mldsa65")


def test_key_file_missing(drone: dict[str, Any], tmp_path: Path) -> None:
    refused({**drone, "keys": str(tmp_path / "none")}, 2, str(tmp_path / "none"))


def test_key_file_readable_by_the_group(keys: Path, gcs: dict[str, Any], tmp_path: Path) -> None:
    import pqc_mav_tunnel

    pqc_mav_tunnel.export_drone(str(keys), "d1", str(tmp_path / "d1"))
    (tmp_path / "d1" / "psk.key").chmod(0o640)
    parameters = drone_parameters(keys, gcs["data_port"])
    refused({**parameters, "keys": str(tmp_path / "d1")}, 2, "psk.key", "chmod")


def test_port_in_use(gcs: dict[str, Any]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("127.0.0.1", gcs["data_port"]))
        refused(gcs, 3, str(gcs["data_port"]))


def test_plaintext_port_in_use(drone: dict[str, Any]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("127.0.0.1", free_port()))
        port = holder.getsockname()[1]
        refused({**drone, "plain_bind": f"127.0.0.1:{port}"}, 3, str(port))


def test_a_peer_that_could_never_be_a_host(drone: dict[str, Any]) -> None:
    refused({**drone, "peer": "10.0.0.1:46011"}, 2, "'peer' is '10.0.0.1:46011'")


def test_broken_yaml_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("/**:\n  pqc_proxy:\n    ros__parameters:\n      suite: [\n")
    ended = run(["--ros-args", "--params-file", str(path)])
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert str(path) in line and "line 5" in line


def test_bad_ros_arguments() -> None:
    ended = run(["--ros-args", "-r", "nonsense"])
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].startswith("pqc_proxy: error: Bad arguments:")


def test_no_parameters_at_all_says_what_is_missing() -> None:
    ended = run([])
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert "missing" in line


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
