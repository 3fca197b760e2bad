# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from commands import pqcmav
from test_status_view import view

from pqc_mav_cli import status_view
from pqc_mav_cli.errors import CliError
from pqc_mav_cli.station_command import check

NOW_S = 102.0
STATIONS = ["north none 10.0.0.1:46011", "south active 10.0.1.1:46011"]


def test_only_a_station_of_the_drone_can_be_asked_for() -> None:
    check("south", STATIONS)
    with pytest.raises(CliError, match="'east' is none of this drone's ground stations: north, south"):
        check("east", STATIONS)


def test_status_says_what_each_station_is() -> None:
    assert status_view.stations([view()], NOW_S) == []
    with_two = view(stations=STATIONS, station="south", station_role="active", term=7)
    assert status_view.stations([with_two], NOW_S) == ["d1: north none, south active (term 7)"]
    assert status_view.cells_of(view(station_role="standby"), NOW_S)["state"].plain == "UP standby"


def test_keys_of_several_stations_are_in_folders_of_their_own(tmp_path: Path) -> None:
    root = tmp_path / "keys"
    made = pqcmav(
        *("keys", "init", "d1", "--root", str(root), "--sig", "mldsa44", "--station", "north", "--station", "south")
    )
    assert made.returncode == 0 and "2 ground stations" in made.stderr
    assert sorted(each.name for each in (root / "stations").iterdir()) == ["north", "south"]
    assert not (root / "gcs").exists()
    assert pqcmav("keys", "export-drone", "d1", str(tmp_path / "d1"), "--root", str(root)).returncode == 0
    publics = [(tmp_path / "d1" / "gcs" / name / "mldsa44.pub").read_text() for name in ("north", "south")]
    assert publics[0] != publics[1]
