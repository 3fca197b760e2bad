# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from programs import install

from pqc_mav_bringup.description import resolve
from pqc_mav_bringup.executables import command
from pqc_mav_bringup.proxy import CPP, NODE, PACKAGES, PY
from pqc_mav_bringup.systems import DEMO, DRONE, GCS


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    install(tmp_path, PACKAGES[PY], NODE)
    return tmp_path


def packages(system, given: dict[str, str]) -> set[str]:
    return {process.package for process in resolve(system, given) if process.node == "pqc_proxy"}


@pytest.mark.parametrize("system", [DRONE, GCS, DEMO], ids=lambda system: system.name)
def test_the_one_in_cpp_runs_where_it_is_installed_and_either_on_request(system, prefix: Path) -> None:
    values = {argument.name: argument.default or "1" for argument in system.arguments}
    assert packages(system, values) == {PACKAGES[PY]}
    install(prefix, PACKAGES[CPP], NODE)
    assert packages(system, values) == {PACKAGES[CPP]}
    for kind, package in PACKAGES.items():
        assert packages(system, {**values, "proxy": kind}) == {package}


def test_both_get_the_same_command_line(prefix: Path) -> None:
    install(prefix, PACKAGES[CPP], NODE)
    given = {"config": "/c.yaml", "drone_id": "d1", "sensing": "false", "policy": "false"}
    lines = {kind: command(resolve(DRONE, {**given, "proxy": kind})[0]) for kind in PACKAGES}
    assert {kind: line[0] for kind, line in lines.items()} == {
        kind: str(prefix / "lib" / package / NODE) for kind, package in PACKAGES.items()
    }
    assert lines[PY][1:] == lines[CPP][1:]
