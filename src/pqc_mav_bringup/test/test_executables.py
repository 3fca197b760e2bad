# SPDX-License-Identifier: Apache-2.0
import dataclasses
from pathlib import Path

import pytest
from programs import install

from pqc_mav_bringup.description import BringupError, Process, resolve
from pqc_mav_bringup.executables import command, find_executable
from pqc_mav_bringup.systems import DRONE


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install(tmp_path, "pqc_mav_proxy", "pqc_proxy")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    return tmp_path


def test_package_folder_then_path_then_a_clear_refusal(prefix: Path) -> None:
    assert find_executable("pqc_mav_proxy", "pqc_proxy") == str(prefix / "lib/pqc_mav_proxy/pqc_proxy")
    assert find_executable("any", "sh").endswith("/sh")
    with pytest.raises(BringupError, match="apt install it"):
        find_executable("mavros", "no-such-program-here", "apt install it")


def test_a_file_that_cannot_be_run_is_not_an_executable(prefix: Path) -> None:
    (prefix / "lib/pqc_mav_proxy/pqc_proxy").chmod(0o644)
    with pytest.raises(BringupError, match="not installed"):
        find_executable("pqc_mav_proxy", "pqc_proxy")


def test_node_command_line(prefix: Path) -> None:
    alone = {"sensing": "false", "policy": "false", "detect": "false", "tunnel": "inside"}
    (process,) = resolve(DRONE, {"config": "/c.yaml", "drone_id": "1", "suite": 'a"b', **alone})
    line = command(process)
    assert line[1:8] == ["--ros-args", "-r", "__node:=pqc_proxy", "-r", "__ns:=/drone", "--params-file", "/c.yaml"]
    # Settings follow the file, so that they win, and texts stay texts whatever they look like.
    assert {'drone_id:="1"', 'suite:="a\\"b"', 'role:="drone"'} <= set(line[8:])


def test_topics_are_remapped_on_the_command_line() -> None:
    process = Process("x", "p", "sh", "", "/n", "", {"a": 1}, (), None, "", remaps={"/uas1/x": "/n/uas1/x"})
    assert command(process)[1:] == ["--ros-args", "-r", "__ns:=/n", "-r", "/uas1/x:=/n/uas1/x", "-p", "a:=1"]


def test_program_command_line() -> None:
    process = Process("x", "p", "sh", "", "", "", {}, ("-c", "true"), None, "")
    assert command(process)[1:] == ["-c", "true"]
    assert "--ros-args" in command(dataclasses.replace(process, parameters={"a": 1}))
