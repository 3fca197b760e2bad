# SPDX-License-Identifier: Apache-2.0
"""A flight over simulated radios: short, in a process of its own, and the whole scenario on request."""

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
from pqc_mav_cli.demo.radio_flight import configurations
from pqc_mav_common.testing import on_request

GIVEN = {"keys": "/keys", "data_port": 1, "drone_data_port": 2, "plain_port": 3, "ground_port": 4}


def test_both_ends_are_at_the_radios() -> None:
    gcs, drone = configurations(GIVEN, "/dev/ground", "/dev/air")
    assert gcs["drone"]["demo"]["radio"] == "serial:/dev/ground:57600:mavlink"
    assert drone["peer"] == "serial:/dev/air:57600:mavlink"
    for end in (gcs, drone):
        known = {entry["key"] for entry in pqc_mav_tunnel.config_schema(end["role"])}
        assert set(end) - {"role", "drone"} <= known


@pytest.mark.parametrize("sealed", [True, False])
def test_a_short_flight_tells_what_a_listener_reads(sealed: bool) -> None:
    with DemoSession({}) as session:
        ports = {name: int(session.values[name]) for name in PORTS}
        given = {**ports, "keys": session.values["keys"], "sealed": sealed, "seconds": 3.0, "rate": 226.0}
        command = [sys.executable, "-m", "pqc_mav_cli.demo.radio_flight", json.dumps(given)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    flight = Flight("")
    for line in run.stdout.splitlines():
        flight.take(line)
    assert run.returncode == 0, run.stdout + run.stderr
    assert flight.samples and flight.summary is not None and flight.summary["received"] > 0
    assert flight.radios is not None and flight.radios["air_s"] > 0
    assert (flight.radios["read"] == 0) == sealed


@on_request("flies for 40 s")
def test_the_scenario_shows_a_radio_that_carries_the_tunnel(tmp_path: Path) -> None:
    picture = tmp_path / "radio.png"
    command = [*COMMAND, "demo", "--scenario", "radio", "--plot", str(picture), "--json"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(run.stdout)["passed"]
    assert picture.exists()
