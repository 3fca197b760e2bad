# SPDX-License-Identifier: Apache-2.0
"""tools/env.sh and tools/run: one environment, however often and from wherever it is entered."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from bare_machine import Run


@pytest.fixture
def built(workspace: Path) -> Path:
    """A workspace with the folders that a set-up leaves."""
    for folder in (
        ".venv/bin",
        ".venv/lib/python3.11/site-packages/ros_rcl.libs",
        ".venv/lib/python3.11/site-packages/pybind11",
        ".deps/liboqs",
        "install/lib",
        "build/pkg",
    ):
        (workspace / folder).mkdir(parents=True)
    hook = workspace / "build" / "pkg" / "share" / "pkg" / "hook"
    hook.mkdir(parents=True)
    (hook / "pythonpath_develop.dsv").write_text(f"prepend-non-duplicate;PYTHONPATH;{workspace}/build/pkg")
    return workspace


def environment(result: subprocess.CompletedProcess[str]) -> dict[str, str]:
    assert result.returncode == 0, result.stderr
    return dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)


def test_wheels_are_the_ros_prefix(built: Path, run: Run) -> None:
    found = environment(run("tools/run", "env"))
    assert found["AMENT_PREFIX_PATH"] == f"{built}/install:{built}/.venv"
    libraries = found["LD_LIBRARY_PATH"].split(":")
    assert f"{built}/.venv/lib" in libraries
    assert f"{built}/.venv/lib/python3.11/site-packages/ros_rcl.libs" in libraries
    assert found["_ROS_WHEELS_BOOTSTRAP_COMPLETE"] == "1"
    assert found["OQS_INSTALL_PATH"] == f"{built}/.deps/liboqs"
    assert found["PYTHONPATH"] == f"{built}/build/pkg"
    assert found["CMAKE_PREFIX_PATH"].startswith(f"{built}/.venv/lib/python3.11/site-packages/pybind11:")
    assert found["PATH"].startswith(f"{built}/.venv/bin:")
    assert found["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"


def test_the_liboqs_of_colcon_alone_is_found(built: Path, run: Run) -> None:
    (built / "install" / "opt" / "liboqs_vendor").mkdir(parents=True)
    assert environment(run("tools/run", "env"))["OQS_INSTALL_PATH"] == f"{built}/.deps/liboqs"
    (built / ".deps" / "liboqs").rmdir()
    assert environment(run("tools/run", "env"))["OQS_INSTALL_PATH"] == f"{built}/install/opt/liboqs_vendor"


def test_sourced_ros_is_left_in_charge(built: Path, run: Run) -> None:
    ros = {"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": "/opt/ros/jazzy", "LD_LIBRARY_PATH": "/opt/ros/jazzy/lib"}
    found = environment(run("tools/run", "env", **ros))
    assert found["AMENT_PREFIX_PATH"] == f"{built}/install:/opt/ros/jazzy"
    assert found["LD_LIBRARY_PATH"] == f"{built}/install/lib:/opt/ros/jazzy/lib"
    assert "_ROS_WHEELS_BOOTSTRAP_COMPLETE" not in found


def test_owners_choice_of_discovery_is_kept(run: Run, built: Path) -> None:
    assert built
    assert environment(run("tools/run", "env", ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET"))[
        "ROS_AUTOMATIC_DISCOVERY_RANGE"
    ] == ("SUBNET")


def test_sourcing_twice_changes_nothing(built: Path, run: Run) -> None:
    script = ". tools/env.sh; env | sort >one; . tools/env.sh; env | sort >two; cmp one two"
    assert run("-euc", script).returncode == 0
    assert "AMENT_PREFIX_PATH" in (built / "one").read_text()


def test_sourcing_from_elsewhere_finds_the_workspace(built: Path, run: Run, tmp_path: Path) -> None:
    found = environment(run("-c", f"cd {tmp_path}; . {built}/tools/env.sh; env"))
    assert found["PQCMAV_ROOT"] == str(built)


def test_run_passes_arguments_and_exit_code(run: Run) -> None:
    result = run("tools/run", "bash", "-c", 'printf "%s|" "$@"; exit 7', "_", "a b", "", "$c")
    assert (result.returncode, result.stdout) == (7, "a b||$c|")


def test_run_without_a_command_explains_itself(run: Run) -> None:
    result = run("tools/run")
    assert result.returncode == 2
    assert "usage:" in result.stderr


def test_run_before_the_set_up_says_what_to_do(run: Run, workspace: Path) -> None:
    result = run("tools/run", "pqcmav-nowhere")
    assert result.returncode == 127 and "make setup" in result.stderr
    (workspace / "install").mkdir(exist_ok=True)
    assert "make setup" not in run("tools/run", "pqcmav-nowhere").stderr


@pytest.fixture
def installed(built: Path) -> dict[str, str]:
    """An installed ROS 2 with which the clone was set up, and a shell that has not sourced it."""
    prefix = built / "opt" / "jazzy"
    prefix.mkdir(parents=True)
    text = f'export ROS_DISTRO=jazzy AMENT_PREFIX_PATH={prefix} SEEN="${{AMENT_TRACE_SETUP_FILES}}"'
    for kind in ("bash", "sh"):
        (prefix / f"setup.{kind}").write_text(text)
    (built / ".venv" / ".pqcmav-stamp").write_text(f"system jazzy /usr/bin/python3 3.12.3 {built}\n")
    return {"PQCMAV_ROS_FOLDER": str(prefix.parent)}


def test_an_installed_ros_is_sourced_where_nobody_did(built: Path, installed: dict[str, str], run: Run) -> None:
    """As in a shell of systemd's, which reads no .bashrc; also under `set -u`, which ROS' own files do not bear."""
    for line in (("tools/run", "env"), ("-euc", ". tools/env.sh; env")):
        found = environment(run(*line, **installed))
        assert found["AMENT_PREFIX_PATH"] == f"{built}/install:{built}/opt/jazzy"
        assert "_ROS_WHEELS_BOOTSTRAP_COMPLETE" not in found
    other = environment(run("tools/run", "env", **installed, ROS_DISTRO="kilted", AMENT_PREFIX_PATH="/opt/ros/kilted"))
    assert other["AMENT_PREFIX_PATH"] == f"{built}/install:/opt/ros/kilted"


def test_a_new_shell_does_not_make_another_set_up_of_it(built: Path, installed: dict[str, str], run: Run) -> None:
    script = 'set -euo pipefail; . tools/lib.sh; echo "$(ros_mode) $(wheels_of)"'
    assert run("-c", script, **installed).stdout == "system jazzy\n"
    stamp = built / ".venv" / ".pqcmav-stamp"
    stamp.write_text(f"wheels kilted /usr/bin/python3 3.12.3 {built}\n")
    assert run("-c", script, **installed).stdout == "wheels kilted\n"
    assert run("-c", script, **installed, ROS_DISTRO="jazzy").stdout == "wheels jazzy\n"
    stamp.write_text(f"wheels  /usr/bin/python3 3.12.3 {built}\n")
    assert run("-c", script, **installed).stdout == "wheels jazzy\n"
