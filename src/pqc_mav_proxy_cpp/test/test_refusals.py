# SPDX-License-Identifier: Apache-2.0
"""A start that fails: each proxy ends with the right code and one line, and both with the same."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from proxies import DRONES, KINDS, installed, outcome

from pqc_mav_common.testing_proxies import HOST, drone_parameters, gcs_parameters, ros_arguments

CONFIG, START = 2, 3
# What is wrong, and words of the one line that says so.
DRONE: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "unknown key": ({"sutie": "x"}, ("sutie", "suite")),
    "out of range": ({"dscp": 64}, ("dscp", "between 0 and 63")),
    "no multiple": ({"replay_window": 65}, ("replay_window", "multiple of 64")),
    "no number": ({"keepalive_s": "fast"}, ("keepalive_s", "must be a number")),
    "no switch": ({"hybrid": 1}, ("hybrid", "true or false")),
    "autostart": ({"autostart": "later"}, ("'autostart' of pqc_proxy is 'later'; it must be true or false.",)),
    "tunnel": (
        {"tunnel": "nowhere"},
        ("'tunnel' of pqc_proxy is 'nowhere'; it must be one of: inside, daemon, attach.",),
    ),
    "tunnel as a number": ({"tunnel": 5}, ("'tunnel' of pqc_proxy is 5; it must be a string.",)),
    "autostart as a number": ({"autostart": 1.5}, ("autostart",)),
    "id": ({"drone_id": "Drone One"}, ("drone_id", "valid id")),
    "id of a wrong type": ({"drone_id": 1}, ("drone_id", "must be a string")),
    "unknown suite": ({"suite": "cs-mlkem768-aesgcm-mldsa56"}, ("cs-mlkem768-aesgcm-mldsa65",)),
    "no such keys": ({"keys": "/none"}, ("/none",)),
    "peer": ({"peer": "10.0.0.1:46011"}, ("'peer' is '10.0.0.1:46011'",)),
    "a list for a text": ({"peer": ["a", "b"]}, ("peer",)),
    "not on loopback": ({"plain_bind": "0.0.0.0:14590"}, ("plain_bind",)),
}
GCS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "no drones": ({"drones": []}, ("drones",)),
    "a drone twice": ({"drones": ["d1", "d1"]}, ("drones", "d1")),
    "drones as numbers": ({"drones": [1, 2]}, ("drones",)),
    "a drone without keys": ({"drones": ["d9"]}, ("d9",)),
    "key of one drone": ({"drone.d1.plain_pear": "x"}, ("drone.d1.plain_pear", "drone.d1.plain_peer")),
    "choice": ({"key_limit_action": "explode"}, ("key_limit_action",)),
}


def ends(arguments: list[str]) -> tuple[int, str]:
    """Exit code and errors of the proxy in Python; the one in C++, where it is here, must end in the same way."""
    code, out, errors = outcome("py", arguments)
    if installed("cpp"):
        assert outcome("cpp", arguments) == (code, out, errors)
    assert out == ""
    return code, errors


def refused(parameters: dict[str, Any], code: int, *said: str) -> None:
    found, errors = ends(ros_arguments(parameters, "refused"))
    assert found == code
    assert re.fullmatch(r"pqc_proxy: error: [^\n]+\n", errors), errors
    assert all(words in errors for words in said), errors


@pytest.mark.parametrize(("changes", "said"), DRONE.values(), ids=DRONE)
def test_a_drone(keys: Path, changes: dict[str, Any], said: tuple[str, ...]) -> None:
    refused({**drone_parameters(keys, 1), **changes}, CONFIG, *said)


@pytest.mark.parametrize(("changes", "said"), GCS.values(), ids=GCS)
def test_a_gcs(keys: Path, changes: dict[str, Any], said: tuple[str, ...]) -> None:
    refused({**gcs_parameters(keys, DRONES), **changes}, CONFIG, *said)


@contextmanager
def taken() -> Iterator[int]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind((HOST, 0))
        yield holder.getsockname()[1]


def test_ports_in_use(keys: Path) -> None:
    with taken() as port:
        refused(gcs_parameters(keys, DRONES, data_port=port), START, str(port))
        refused(drone_parameters(keys, 1, plain_bind=f"{HOST}:{port}"), START, str(port))


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
    code, errors = ends(["--ros-args", "--params-file", make(tmp_path)])
    assert code == CONFIG and len(errors.splitlines()) == 1


HERE = [kind for kind in KINDS if installed(kind)]


@pytest.mark.parametrize("kind", HERE)
def test_broken_yaml_is_named_with_its_line(kind: str, tmp_path: Path) -> None:
    """Two readers of YAML: what they say behind the line is theirs."""
    path = file("/**:\n  pqc_proxy:\n    ros__parameters:\n      suite: [\n")(tmp_path)
    code, _, errors = outcome(kind, ["--ros-args", "--params-file", path])
    assert code == CONFIG
    assert re.fullmatch(rf"pqc_proxy: error: {path}, line [45]: not valid YAML: .+\n", errors), errors


@pytest.mark.parametrize("kind", HERE)
def test_bad_ros_arguments(kind: str) -> None:
    code, _, errors = outcome(kind, ["--ros-args", "-r", "nonsense"])
    assert code == CONFIG
    assert errors.splitlines()[-1].startswith("pqc_proxy: error: Bad arguments:"), errors


def test_no_parameters_and_the_version() -> None:
    code, errors = ends([])
    assert code == CONFIG and "missing" in errors
    if installed("cpp"):
        assert outcome("py", ["--version"]) == outcome("cpp", ["--version"])
