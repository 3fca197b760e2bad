# SPDX-License-Identifier: Apache-2.0
"""The launch files of the benchmark and of the demo's scenarios, and the container of components where there is one."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

pytest.importorskip("launch_ros.actions", reason="launch is not installed")

from commands import DEADLINE_S
from launching import launched, process_of
from pqc_mav_interfaces import action
from pqc_mav_interfaces.action import RunCampaign
from pqc_mav_interfaces.srv import Rekey
from test_up import Ends

from pqc_mav_bringup.composed import CONTAINERS
from pqc_mav_bringup.description import BringupError
from pqc_mav_bringup.executables import find_executable
from pqc_mav_common.key_values import to_key_values
from pqc_mav_common.testing import on_request, until
from pqc_mav_common.testing_onlooker import Onlooker
from pqc_mav_common.testing_traffic import Traffic

SUITE = "ML-768-AG-MD-65"
OTHER = "cs-mlkem768-chacha20poly1305-mldsa65"
FLIGHT_S = 300.0


def test_a_campaign_of_a_launched_benchmark(tmp_path: Path) -> None:
    options = {"suites": [SUITE], "duration_s": 1.0, "workload": {"kind": "bulk", "mbps": 1.0}}
    given = {"root": tmp_path, "suites": SUITE, "power": "no"}
    with launched("benchmark", "pqc_mav_bench", **given) as running, Onlooker() as graph:
        running.wait_for("controller ready")
        goal = RunCampaign.Goal(options=to_key_values(options))
        result, feedback = graph.act(RunCampaign, "/bench/drone/bench_controller/run_campaign", goal)
        assert result.ok and (result.passed, result.failed) == (1, 0), result.message
        assert feedback and Path(result.run_directory).is_relative_to(tmp_path)


@on_request("flies for 100 s")
def test_a_launched_scenario_is_judged(tmp_path: Path) -> None:
    plot = tmp_path / "hot.png"
    with launched("scenario", "pqc_mav_cli", scenario="hot", plot=plot) as running:
        code = running.process.wait(FLIGHT_S)
        assert code == 0, "\n".join(running.lines)
        assert plot.is_file()


def test_a_scenario_that_fails_fails_the_launch(tmp_path: Path) -> None:
    with launched("scenario", "pqc_mav_cli", rate="0", plot=tmp_path / "x.png") as running:
        assert running.process.wait(DEADLINE_S) != 0
        running.wait_for("The scenario failed (exit code 2)")


@pytest.mark.parametrize("composed", CONTAINERS)
def test_the_proxy_in_a_container_does_what_it_does_alone(composed: str, tmp_path: Path, keys: Path) -> None:
    try:
        find_executable("rclcpp_components", CONTAINERS[composed])
    except BringupError as error:
        pytest.skip(str(error))
    ends = Ends(tmp_path, keys)
    air = {"config": ends.write("drone"), "sensing": "false", "policy": "false", "detect": "false"}
    node = "/drone/pqc_proxy"
    with (
        launched("gcs", config=ends.write("gcs"), detect="false"),
        launched("drone", **air, composed=composed) as drone,
        Onlooker() as graph,
        Traffic(ends.ground).start(ends.plain) as traffic,
    ):
        drone.wait_for("-> UP")
        assert graph.state(node) == "active"
        traffic.flows()
        answer = graph.call(Rekey, f"{node}/rekey", Rekey.Request(suite=OTHER))
        assert answer.ok and answer.suite == OTHER, answer.message
        result, _ = graph.act(action.Rekey, f"{node}/rekey_action", action.Rekey.Goal(kind="ratchet"))
        assert result.ok and result.suite == OTHER and result.epoch == answer.epoch + 1, result.message
        assert traffic.up == sorted(set(traffic.up)), "nothing twice, nothing out of order"
        assert traffic.up[-1] - traffic.up[0] + 1 == len(traffic.up), "nothing lost"
        assert graph.change(node, "deactivate", "activate")
        traffic.flows()
        lines = len(drone.lines)
        killed = process_of(drone, CONTAINERS[composed])
        assert killed is not None
        killed.send_signal(signal.SIGKILL)
        drone.wait_for("ended with signal SIGKILL; starting it again in 0.3 s", lines)
        drone.wait_for(f"Loaded node '{node}' in container", lines)  # its daemon, and the tunnel, have stayed
        until(lambda: graph.state(node) == "active", "active again")
        traffic.flows()
