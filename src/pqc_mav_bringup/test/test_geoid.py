# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from pqc_mav_bringup import geoid
from pqc_mav_bringup.geoid import INSTALL, NAME, SIZE, folders, problem


def put(folder: Path, size: int = SIZE + 400) -> None:
    """The file; it takes no room on the disk."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / NAME).open("wb") as file:
        file.truncate(size)


def test_the_environment_wins_over_the_folders_of_the_system(tmp_path: Path) -> None:
    system = [Path("/usr/share/GeographicLib/geoids"), Path("/usr/local/share/GeographicLib/geoids")]
    assert folders({}) == system
    assert folders({"CONDA_PREFIX": "/c"}) == [*system, Path("/c/share/GeographicLib/geoids")]
    assert folders({"GEOGRAPHICLIB_DATA": "/d"}) == [Path("/d/geoids")]
    assert folders({"GEOGRAPHICLIB_DATA": "/d", "GEOGRAPHICLIB_GEOID_PATH": "/g"}) == [Path("/g")]


def test_a_whole_file_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "b" / "geoids")
    assert problem({"GEOGRAPHICLIB_DATA": str(tmp_path / "b")}) == ""
    monkeypatch.setattr(geoid, "FOLDERS", (str(tmp_path / "a"), str(tmp_path / "b")))
    assert problem({}) == ""


def test_without_it_the_sentence_says_where_it_was_looked_for_and_what_to_do(tmp_path: Path) -> None:
    said = problem({"GEOGRAPHICLIB_GEOID_PATH": str(tmp_path)})
    assert NAME in said and str(tmp_path) in said and said.endswith(INSTALL)


def test_half_a_file_makes_mavros_abort_too(tmp_path: Path) -> None:
    put(tmp_path, SIZE // 2)
    said = problem({"GEOGRAPHICLIB_GEOID_PATH": str(tmp_path)})
    assert f"{SIZE // 2} bytes of at least {SIZE}" in said and said.endswith(INSTALL)
