# SPDX-License-Identifier: Apache-2.0
"""A flight by two ways: short, in a process of its own, and the whole scenario on request."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pqc_mav_tunnel
import pytest
from commands import COMMAND

from pqc_mav_bringup.demo_session import PORTS, DemoSession
from pqc_mav_cli.demo.pair import Flight
from pqc_mav_cli.demo.ways_flight import air_end, ground_end
from pqc_mav_common.testing import on_request

GIVEN = {"keys": "/keys", "data_port": 1, "drone_data_port": 2, "plain_port": 3, "ground_port": 4}


def test_a_drone_has_the_paths_of_its_flight() -> None:
    gcs = ground_end(GIVEN, "/dev/ground")
    assert gcs["drone"]["demo"]["radio"] == "serial:/dev/ground:57600:mavlink"
    for paths in (["lte"], ["radio"], ["lte", "radio"]):
        drone = air_end(GIVEN | {"paths": paths}, 5, "/dev/air")
        assert list(drone["path"]) == drone["paths"] == paths
        known = {entry["key"] for entry in pqc_mav_tunnel.config_schema("drone")}
        assert set(drone) - {"role", "path"} <= known


@pytest.mark.parametrize("paths", [["lte"], ["lte", "radio"]])
def test_a_short_flight_tells_what_went_by_each_path(paths: list[str]) -> None:
    with DemoSession({}) as session:
        ports = {name: int(session.values[name]) for name in PORTS}
        given = {**ports, "keys": session.values["keys"], "paths": paths, "seconds": 3.0, "rate": 226.0}
        command = [sys.executable, "-m", "pqc_mav_cli.demo.ways_flight", json.dumps(given)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    flight = Flight("")
    for line in run.stdout.splitlines():
        flight.take(line)
    assert run.returncode == 0, run.stdout + run.stderr
    assert flight.summary is not None and flight.summary["received"] > 0
    assert flight.paths is not None and flight.paths["handshakes"] == 1
    assert list(flight.paths["sent"]) == paths and all(flight.paths["sent"].values())


@on_request("flies for 46 s")
def test_the_scenario_shows_that_commands_are_answered_by_both(tmp_path: Path) -> None:
    picture = tmp_path / "ways.png"
    command = [*COMMAND, "demo", "--scenario", "two-ways", "--plot", str(picture), "--json"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(run.stdout)["passed"]
    assert picture.exists()
