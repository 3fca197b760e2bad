# SPDX-License-Identifier: Apache-2.0
"""The units start what exists, with options that exist, and treat exit codes as the processes mean them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pqc_mav_bringup.respawn import LASTING, Respawn
from pqc_mav_bringup.systems import SYSTEMS

UNITS = Path(__file__).resolve().parent.parent / "systemd"


def directives(role: str) -> dict[str, str]:
    lines = (UNITS / f"pqcmav-{role}.service").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_unit(role: str) -> None:
    unit = directives(role)
    program, *arguments = unit["ExecStart"].split()
    assert program.endswith("/tools/run") and arguments[:3] == ["pqcmav", "up", role]
    options = [argument.removeprefix("--") for argument in arguments[3:] if argument.startswith("--")]
    assert set(options) <= {argument.name for argument in SYSTEMS[role].arguments}
    assert unit["Restart"] == "on-failure"
    assert unit["RestartSec"] == f"{Respawn().delay_s * 1000:.0f}ms", "as the supervisor does"
    assert {int(code) for code in unit["RestartPreventExitStatus"].split()} == set(LASTING)
    assert int(unit["Nice"]) < 0 and int(unit["CPUWeight"]) > 100, "above what systemd gives to others"
    assert unit["NoNewPrivileges"] == "yes" and unit["User"] == "pqcmav"
    assert unit["MemorySwapMax"] == unit["LimitCORE"] == "0"
    assert unit["CapabilityBoundingSet"] == "" and "AmbientCapabilities" not in unit


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_logs_of_a_month_ago_go(role: str, tmp_path: Path) -> None:
    unit = directives(role)
    assert (
        f"/var/log/{unit['LogsDirectory']}" in unit["ExecStartPre"] and "ROS_LOG_DIR=/var/log/" in unit["Environment"]
    )
    old, new = tmp_path / "old.log", tmp_path / "new.log"
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    command = unit["ExecStartPre"].removeprefix("-").replace("/var/log/pqcmav", str(tmp_path)).split()
    assert subprocess.run(command, check=False).returncode == 0
    assert new.exists() and not old.exists()


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_a_dead_system_is_back_before_the_autopilots_failsafe(role: str) -> None:
    milliseconds = re.fullmatch(r"(\d+)ms", directives(role)["RestartSec"])
    assert milliseconds and int(milliseconds[1]) <= 500
    # No limit on starts, and no delay that grows.
    assert directives(role)["StartLimitIntervalSec"] == "0"
    assert "RestartSteps" not in directives(role)


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_no_interface_holds_the_tunnel_back(role: str) -> None:
    """Paths come and go in flight as well; an end that lacks its address is started again."""
    unit = (UNITS / f"pqcmav-{role}.service").read_text()
    assert "\nAfter=network.target\n" in unit
    assert "=network-online.target" not in unit


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_a_serial_port_that_is_plugged_in_later_is_allowed(role: str) -> None:
    """systemd.resource-control: a group of devices that is not known when the unit starts is not added."""
    unit = directives(role)
    assert unit["Wants"] == unit["After"] == "modprobe@cdc_acm.service modprobe@usbserial.service"


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_what_systemd_says_of_the_exposure(role: str, tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not here")
    unit = UNITS / f"pqcmav-{role}.service"
    said = subprocess.run(
        [program, "security", "--offline=true", "--no-pager", str(unit)],
        capture_output=True, text=True, timeout=60, cwd=tmp_path,
    )  # fmt: skip
    if "offline" in said.stderr:
        pytest.skip("this systemd-analyze is older than version 250")
    level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said.stdout)
    assert level, said.stdout + said.stderr
    assert float(level[1]) < 2.0


def test_the_sysctl_file_allows_the_buffers_the_proxy_asks_for() -> None:
    import pqc_mav_tunnel

    asked_kib = next(e["default"] for e in pqc_mav_tunnel.config_schema("gcs") if e["key"] == "socket_buffer_kib")
    lines = (UNITS / "00-pqcmav.conf").read_text().splitlines()
    allowed = dict(line.split(" = ") for line in lines if not line.startswith("#"))
    assert allowed == {name: str(asked_kib * 1024) for name in ("net.core.rmem_max", "net.core.wmem_max")}
