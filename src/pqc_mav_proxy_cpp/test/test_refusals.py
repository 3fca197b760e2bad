# SPDX-License-Identifier: Apache-2.0
"""A start that fails: both proxies end with the same code and the same line."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from proxies import DRONES, command, outcome

from pqc_mav_common.testing_proxies import HOST, drone_parameters, gcs_parameters, ros_arguments

CONFIG, START = 2, 3
DRONE: dict[str, dict[str, Any]] = {
    "unknown key": {"sutie": "x"},
    "out of range": {"dscp": 64},
    "no number": {"keepalive_s": "fast"},
    "no switch": {"hybrid": 1},
    "autostart": {"autostart": "later"},
    "autostart as a number": {"autostart": 1.5},
    "id": {"drone_id": "Drone One"},
    "id of a wrong type": {"drone_id": 1},
    "unknown suite": {"suite": "cs-mlkem768-aesgcm-mldsa56"},
    "no such keys": {"keys": "/none"},
    "peer": {"peer": "10.0.0.1:46011"},
    "a list for a text": {"peer": ["a", "b"]},
    "not on loopback": {"plain_bind": "0.0.0.0:14590"},
}
GCS: dict[str, dict[str, Any]] = {
    "no drones": {"drones": []},
    "a drone twice": {"drones": ["d1", "d1"]},
    "drones as numbers": {"drones": [1, 2]},
    "a drone without keys": {"drones": ["d9"]},
    "key of one drone": {"drone.d1.plain_pear": "x"},
    "choice": {"key_limit_action": "explode"},
}


def both(arguments: list[str]) -> tuple[int, str]:
    """How both end; they must agree."""
    command("cpp")  # skips where there is only one
    ended = {kind: outcome(kind, arguments) for kind in ("py", "cpp")}
    code, out, errors = ended["py"]
    assert ended["cpp"] == (code, out, errors)
    assert out == ""
    return code, errors


def refused(parameters: dict[str, Any], code: int) -> None:
    found, errors = both(ros_arguments(parameters, "refused"))
    assert found == code
    assert re.fullmatch(r"pqc_proxy: error: [^\n]+\n", errors), errors


@pytest.mark.parametrize("changes", DRONE.values(), ids=DRONE)
def test_a_drone(keys: Path, changes: dict[str, Any]) -> None:
    refused({**drone_parameters(keys, 1), **changes}, CONFIG)


@pytest.mark.parametrize("changes", GCS.values(), ids=GCS)
def test_a_gcs(keys: Path, changes: dict[str, Any]) -> None:
    refused({**gcs_parameters(keys, DRONES), **changes}, CONFIG)


@contextmanager
def taken() -> Iterator[int]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind((HOST, 0))
        yield holder.getsockname()[1]


def test_ports_in_use(keys: Path) -> None:
    with taken() as port:
        refused(gcs_parameters(keys, DRONES, data_port=port), START)
        refused(drone_parameters(keys, 1, plain_bind=f"{HOST}:{port}"), START)


def file(text: str) -> Callable[[Path], str]:
    def write(folder: Path) -> str:
        path = folder / "parameters.yaml"
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize(
    "make",
    [
        lambda _: "/none.yaml",
        file("just a text\n"),
        file("/**:\n  pqc_proxy:\n    parameters: {}\n"),
        file("#" * (1 << 20) + "\n/**: {pqc_proxy: {ros__parameters: {}}}\n"),
        file("/**:\n  pqc_proxy:\n    ros__parameters:\n      role: gcs\n      drones: []\n"),
    ],
    ids=["none", "text", "no block", "large", "empty list"],
)
def test_parameter_files(make: Callable[[Path], str], tmp_path: Path) -> None:
    code, errors = both(["--ros-args", "--params-file", make(tmp_path)])
    assert code == CONFIG and len(errors.splitlines()) == 1


def test_broken_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    """Two readers of YAML: what they say behind the line is theirs."""
    command("cpp")
    path = file("/**:\n  pqc_proxy:\n    ros__parameters:\n      suite: [\n")(tmp_path)
    for kind in ("py", "cpp"):
        code, _, errors = outcome(kind, ["--ros-args", "--params-file", path])
        assert code == CONFIG
        assert re.fullmatch(rf"pqc_proxy: error: {path}, line [45]: not valid YAML: .+\n", errors), errors


def test_bad_ros_arguments() -> None:
    command("cpp")
    for kind in ("py", "cpp"):
        code, _, errors = outcome(kind, ["--ros-args", "-r", "nonsense"])
        assert code == CONFIG
        assert errors.splitlines()[-1].startswith("pqc_proxy: error: Bad arguments:"), errors


def test_no_parameters_and_the_version() -> None:
    assert both([])[0] == CONFIG
    command("cpp")
    assert outcome("py", ["--version"]) == outcome("cpp", ["--version"])
