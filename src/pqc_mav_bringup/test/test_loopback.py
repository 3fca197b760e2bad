# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pqc_mav_bringup.loopback import PROFILES, RANGE, loopback_environment

ROOT = Path(__file__).resolve().parents[3]


def test_by_default_ros_stays_on_this_machine() -> None:
    added = loopback_environment({})
    assert added.pop(RANGE) == "LOCALHOST"
    assert set(added) == {PROFILES[0]}
    assert all(Path(file).name == "fastdds_loopback.xml" and Path(file).is_file() for file in added.values())
    assert set(loopback_environment({RANGE: "LOCALHOST"})) == {PROFILES[0]}


def test_fast_dds_3_gets_the_variable_that_it_reads_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "share" / "fastdds").mkdir(parents=True)
    assert set(loopback_environment({"AMENT_PREFIX_PATH": f"/nowhere::{tmp_path}"})) == {RANGE, PROFILES[1]}
    assert set(loopback_environment({"AMENT_PREFIX_PATH": "/nowhere::"})) == {RANGE, PROFILES[0]}


def test_what_the_owner_decided_stays() -> None:
    assert loopback_environment({RANGE: "SUBNET"}) == {}
    for name in PROFILES:
        assert loopback_environment({RANGE: "LOCALHOST", name: "/my/profile.xml"}) == {}


@pytest.mark.parametrize("before", [{}, {RANGE: "LOCALHOST"}, {RANGE: "SUBNET"}, {PROFILES[0]: "/my/profile.xml"}])
def test_the_shell_environment_says_the_same(before: dict[str, str]) -> None:
    script = ROOT / "tools" / "env.sh"
    if not script.is_file():
        pytest.skip("not in a workspace")
    clean = {name: value for name, value in os.environ.items() if name not in {RANGE, *PROFILES}}
    # The script puts the wheels' prefix on the path, if there is no other.
    prefix = ROOT / ".venv" if not os.environ.get("ROS_DISTRO") else os.environ.get("AMENT_PREFIX_PATH", "")
    wanted = {**before, **loopback_environment({**before, "AMENT_PREFIX_PATH": str(prefix)})}
    shown = f". {script}; " + "; ".join(f'echo "${{{name}:-}}"' for name in (RANGE, *PROFILES))
    said = subprocess.run(
        ["bash", "-c", shown], env={**clean, **before}, capture_output=True, text=True, check=True, timeout=60
    ).stdout.splitlines()
    for name, value in zip((RANGE, *PROFILES), said, strict=True):
        if name == RANGE or value.startswith("/my"):
            assert value == wanted.get(name, "")
        else:
            assert Path(value).name == Path(wanted.get(name, "")).name


def test_the_shell_takes_its_own_profile_back_for_another_range() -> None:
    script = ROOT / "tools" / "env.sh"
    if not script.is_file():
        pytest.skip("not in a workspace")
    code = f'. {script}; {RANGE}=SUBNET; . {script}; echo "x${{{PROFILES[0]}:-}}${{{PROFILES[1]}:-}}"'
    clean = {name: value for name, value in os.environ.items() if name not in {RANGE, *PROFILES}}
    said = subprocess.run(["bash", "-c", code], env=clean, capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout == "x\n"
