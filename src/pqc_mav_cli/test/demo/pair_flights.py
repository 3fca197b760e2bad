# SPDX-License-Identifier: Apache-2.0
"""Flights of the scenarios that compare: a short one in a process of its own, and a whole scenario."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from commands import COMMAND

from pqc_mav_bringup.demo_session import PORTS, DemoSession
from pqc_mav_cli.demo.pair import Flight

GIVEN = {"keys": "/keys", "data_port": 1, "drone_data_port": 2, "plain_port": 3, "ground_port": 4}


def short_flight(module: str, name: str = "", **options: Any) -> Flight:
    """What a flight of three seconds with these options tells."""
    with DemoSession({}) as session:
        ports = {port: int(session.values[port]) for port in PORTS}
        given = {**ports, "keys": session.values["keys"], "seconds": 3.0, **options}
        command = [sys.executable, "-m", f"pqc_mav_cli.demo.{module}", json.dumps(given)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    flight = Flight(name)
    for line in run.stdout.splitlines():
        flight.take(line)
    assert run.returncode == 0, run.stdout + run.stderr
    return flight


def passes(scenario: str, picture: Path) -> None:
    """The whole scenario passes and is a picture."""
    command = [*COMMAND, "demo", "--scenario", scenario, "--plot", str(picture), "--json"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(run.stdout)["passed"]
    assert picture.exists()
