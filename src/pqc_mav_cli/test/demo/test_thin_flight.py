# SPDX-License-Identifier: Apache-2.0
"""A flight over the thin link: short, in a process of its own, and the whole scenario on request."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pqc_mav_tunnel
from commands import COMMAND

from pqc_mav_bringup.demo_session import PORTS, DemoSession
from pqc_mav_cli.demo.pair import Flight
from pqc_mav_cli.demo.thin_flight import configurations
from pqc_mav_cli.demo.thin_result import SHAPED
from pqc_mav_common.testing import on_request

GIVEN = {"keys": "/keys", "data_port": 1, "drone_data_port": 2, "plain_port": 3, "ground_port": 4}


def test_only_the_shaped_ends_are_shaped() -> None:
    for shaped, kbit in ((True, 64), (False, 0)):
        for end in configurations({**GIVEN, "shaped": shaped}, 5):
            assert end.get("shape_kbit") == kbit
            known = {entry["key"] for entry in pqc_mav_tunnel.config_schema(end["role"])}
            assert set(end) - {"role", "drone"} <= known
    drone = configurations({**GIVEN, "shaped": False}, 5)[1]
    assert drone["data_port"] == 5, "by way of the link"


def test_a_short_flight_tells_what_the_ground_sees() -> None:
    with DemoSession({}) as session:
        ports = {name: int(session.values[name]) for name in PORTS}
        given = {**ports, "keys": session.values["keys"], "shaped": True, "seconds": 3.0, "rate": 320.0}
        command = [sys.executable, "-m", "pqc_mav_cli.demo.thin_flight", json.dumps(given)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    flight = Flight(SHAPED)
    for line in run.stdout.splitlines():
        flight.take(line)
    assert run.returncode == 0, run.stdout + run.stderr
    assert flight.up and flight.samples and flight.answered and flight.ages_s
    assert flight.summary is not None and 0 < flight.summary["received"] < flight.summary["sent"]


@on_request("flies for 40 s")
def test_the_scenario_shows_what_shaping_is_for(tmp_path: Path) -> None:
    picture = tmp_path / "thin.png"
    command = [*COMMAND, "demo", "--scenario", "thin-link", "--plot", str(picture), "--json"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(run.stdout)["passed"]
    assert picture.exists()
