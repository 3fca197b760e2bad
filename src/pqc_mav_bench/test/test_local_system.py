# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import socket
from pathlib import Path

import pytest

from pqc_mav_bench.local_system import DRONE_ID, SYSTEM, LocalSession
from pqc_mav_bringup.description import resolve
from pqc_mav_sim.impairment.settings import ImpairmentError


@pytest.fixture
def session(tmp_path):
    with LocalSession(tmp_path / "root", ["ML-512-AG-FA-512"]) as made:
        yield made


def test_both_ends_find_each_other_on_ports_and_names_of_their_own(session):
    processes = {process.label: process for process in resolve(SYSTEM, {**session.values, "power": "no"})}
    space = session.values["space"]
    assert sorted(processes) == sorted(
        f"{space}/{name}" for name in ("gcs/pqc_proxy", "drone/pqc_proxy", "gcs/bench_agent", "drone/bench_controller")
    )
    gcs, drone = processes[f"{space}/gcs/pqc_proxy"].parameters, processes[f"{space}/drone/pqc_proxy"].parameters
    assert gcs["data_port"] == drone["data_port"]
    assert gcs["key_pool_depth"] == 0
    assert gcs["drones"] == [drone["drone_id"]] == [DRONE_ID]
    controller = processes[f"{space}/drone/bench_controller"]
    assert controller.parameters["proxy"] == f"/{space}/drone/pqc_proxy"
    assert controller.parameters["agent"] == f"/{space}/gcs/bench_agent"
    assert session.controller == f"{controller.namespace}/{controller.node}"


def test_the_ground_has_a_pool_of_key_pairs_where_it_is_asked_for(tmp_path):
    with LocalSession(tmp_path, [], key_pool=True) as made:
        ends = {process.label: process for process in resolve(SYSTEM, {**made.values, "power": "no"})}
        assert ends[f"{made.values['space']}/gcs/pqc_proxy"].parameters["key_pool_depth"] == 1


def test_the_keys_are_made_for_the_suites_and_go_at_the_end(tmp_path):
    with LocalSession(tmp_path, ["ML-512-AG-FA-512"]) as session:
        folder = session._ends.folder
        names = {path.name for path in folder.glob("keys/gcs/**/*") if path.is_file()}
        assert any("falcon512" in name for name in names)
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def test_a_link_stands_before_the_ground(tmp_path):
    with LocalSession(tmp_path, [], "1ms 0.5% 2Mbit") as made:
        ends = {process.label: process for process in resolve(SYSTEM, {**made.values, "power": "no"})}
        drone, ground = (ends[f"{made.values['space']}/{end}/pqc_proxy"] for end in ("drone", "gcs"))
        assert made.values["peer_port"] != made.values["data_port"]
        assert str(drone.parameters["data_port"]) == made.values["peer_port"]
        assert str(ground.parameters["data_port"]) == made.values["data_port"]
        port = int(made.values["peer_port"])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", port))  # it is gone with the session
    with pytest.raises(ImpairmentError, match="says nothing about a link"):
        LocalSession(tmp_path, [], "quick")


def test_serial_radios_stand_between_the_ends(tmp_path):
    with LocalSession(tmp_path, [], "SiK") as made:
        ends = {process.label: process for process in resolve(SYSTEM, {**made.values, "power": "no"})}
        drone, ground = (ends[f"{made.values['space']}/{end}/pqc_proxy"] for end in ("drone", "gcs"))
        air, there = drone.parameters["peer"], ground.parameters[f"drone.{DRONE_ID}.radio"]
        assert air != there and all(each.endswith(":57600:mavlink") for each in (air, there))
        port = air.split(":")[1]
        assert Path(port).exists()


def test_two_sessions_share_nothing(tmp_path, session):
    with LocalSession(tmp_path, []) as other:
        assert other.values["space"] != session.values["space"]
        assert other.values["keys"] != session.values["keys"]
