# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from pqc_mav_bringup import geoid
from pqc_mav_cli.doctor.finding import Level
from pqc_mav_cli.doctor.mavros import geoid_data, installed, open_sockets
from pqc_mav_common.siblings import MAVROS, Sibling
from pqc_mav_common.testing_network import fake_mavros, running_mavros

__all__ = ["fake_mavros"]


def test_installed_is_what_has_a_share_folder(tmp_path: Path) -> None:
    assert not installed([tmp_path])
    (tmp_path / "share" / "mavros").mkdir(parents=True)
    assert installed([Path("/nowhere"), tmp_path])


def test_the_data_it_aborts_without(tmp_path: Path) -> None:
    environment = {"GEOGRAPHICLIB_GEOID_PATH": str(tmp_path)}
    found = geoid_data(environment)
    assert found.level is Level.WARN and geoid.NAME in found.text and found.remedy == geoid.INSTALL
    with (tmp_path / geoid.NAME).open("wb") as file:
        file.truncate(geoid.SIZE)
    assert geoid_data(environment).level is Level.OK


def test_a_mavros_that_is_open_to_the_network_is_named(fake_mavros: Path) -> None:
    assert open_sockets([], 0) == []
    with running_mavros(fake_mavros, "127.0.0.1") as local, running_mavros(fake_mavros, "0.0.0.0") as mavros:
        running = [Sibling(local.pid, MAVROS, False), Sibling(mavros.pid, MAVROS, False), Sibling(1, "init", False)]
        (found,) = open_sockets(running, 0)
    assert found.level is Level.WARN and f"(process {mavros.pid}): {mavros.text}" in found.text
    assert "127.0.0.1" in found.remedy
