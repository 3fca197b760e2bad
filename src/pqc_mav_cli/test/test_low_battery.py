# SPDX-License-Identifier: Apache-2.0
"""The shipped configuration flown to 5 %: sensing, policy, dashboard, diagnostics and metrics all say so."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not there")

from commands import Running
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces.msg import BatteryHealth, PolicyDecision
from rclpy.qos import qos_profile_sensor_data
from test_up import Ends

from pqc_mav_cli.metrics.figures import Figures, add_readings
from pqc_mav_cli.metrics.senses import Reading, Senses
from pqc_mav_common import qos, testing
from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import until
from pqc_mav_common.testing_onlooker import Onlooker, diagnosed
from pqc_mav_dashboard.picture import Sense
from pqc_mav_dashboard.trouble import trouble

SIM = "from pqc_mav_sim.vehicle_cli import main; raise SystemExit(main())"
# It must take off and go on flying: with its own limits the simulated autopilot would do neither.
PARAMS = ("--param", "BAT_CRIT_THR=0.05", "--param", "COM_LOW_BAT_ACT=0")
VEHICLE = ("--battery", "7", "--profile", "hover", "--rate", "50", *PARAMS)
FLIGHT_S = 120.0


def test_at_five_percent_everything_says_so(tmp_path: Path, keys: Path) -> None:
    ends = Ends(tmp_path, keys)
    tap = f"127.0.0.1:{free_port()}"
    gcs = Running("up", "gcs", "--config", str(ends.write("gcs")), "--detect", "false")
    # Configuration of sensing and policy as they are shipped.
    drone = Running("up", "drone", "--config", str(ends.write("drone")), "--tap", tap, "--detect", "false")
    vehicle = testing.Running([sys.executable, "-c", SIM, "--connect", f"127.0.0.1:{ends.plain}", *VEHICLE])
    said: list[str] = []
    senses = Senses(said.append)
    try:
        with Onlooker() as onlooker:
            batteries = onlooker.collect(BatteryHealth, "/drone/battery", qos_profile_sensor_data)
            decisions = onlooker.collect(PolicyDecision, "/drone/pqc_policy/decision", qos.latched(1))
            diagnoses = onlooker.collect(DiagnosticArray, "/diagnostics", 10)

            def battery() -> Reading | None:
                return next((each for each in senses.readings() if each.sense == "battery"), None)

            def at_five_percent() -> bool:
                reading = battery()
                return reading is not None and (reading.fields["state_of_charge"] or 1.0) < 0.055

            until(at_five_percent, "a battery at 5 %", FLIGHT_S)
            newest = batteries[-1]
            assert newest.valid and newest.state_of_charge == newest.reported_remaining < 0.055
            reading = battery()
            assert reading is not None
            rank, words = trouble([], {"battery": Sense(reading.fields, time.monotonic())}, time.monotonic())
            assert rank >= 5 and words == "battery at 5%"
            figures = Figures()
            add_readings(figures, [reading])
            metrics = {metric.name: metric.samples[0].value for metric in figures.metrics()}
            assert metrics["pqcmav_battery_charge_ratio"] == pytest.approx(0.05, abs=0.005)
            name = "pqc_battery: battery"
            until(lambda: "5% left" in diagnosed(diagnoses, name)[1], "the diagnosis")
            assert diagnosed(diagnoses, name)[0] == 1
            until(lambda: any("% of the charge left, below 7 %" in each.reason for each in decisions), "the policy")
        assert vehicle.end(signal.SIGINT) == drone.end(signal.SIGINT) == gcs.end(signal.SIGINT) == 0
    finally:
        senses.close()
        for each in (vehicle, drone, gcs):
            each.kill()
