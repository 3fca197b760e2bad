# SPDX-License-Identifier: Apache-2.0
"""The units start what exists, with options that exist, and treat exit codes as the processes mean them."""

from pathlib import Path

import pytest

from pqc_mav_bringup.description import Respawn
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
    assert {int(code) for code in unit["RestartPreventExitStatus"].split()} == set(Respawn().never_after)
    assert unit["NoNewPrivileges"] == "yes" and unit["User"] == "pqcmav"
