# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import mavros_here
import pytest

from pqc_mav_bringup import geoid


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A prefix with something that is called mavros_node, and its data, alone on the path."""
    program = tmp_path / "lib" / "mavros" / "mavros_node"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with (tmp_path / geoid.NAME).open("wb") as file:
        file.truncate(geoid.SIZE)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    monkeypatch.setenv("GEOGRAPHICLIB_GEOID_PATH", str(tmp_path))
    monkeypatch.delenv(mavros_here.VARIABLE, raising=False)
    return tmp_path


def test_an_installed_one_is_taken_as_it_is(installed: Path, tmp_path: Path) -> None:
    made = mavros_here.environment(tmp_path / "unused")
    assert made == {} and not (tmp_path / "unused").exists()
    assert mavros_here.program(made) == str(installed / "lib" / "mavros" / "mavros_node")


def test_without_its_data_it_would_abort_and_the_double_flies(installed: Path) -> None:
    (installed / geoid.NAME).unlink()
    assert not mavros_here.is_real({"GEOGRAPHICLIB_GEOID_PATH": str(installed)})


def test_the_variable_decides(installed: Path) -> None:
    data = {"GEOGRAPHICLIB_GEOID_PATH": str(installed)}
    assert not mavros_here.is_real({**data, mavros_here.VARIABLE: "double"})
    assert mavros_here.is_real({**data, mavros_here.VARIABLE: "real"})
    with pytest.raises(AssertionError, match="must be real, double or empty"):
        mavros_here.is_real({mavros_here.VARIABLE: "yes"})


def test_a_real_one_that_was_asked_for_and_is_not_there_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match="PQCMAV_MAVROS=real, but mavros is not installed in"):
        mavros_here.is_real({mavros_here.VARIABLE: "real"})
