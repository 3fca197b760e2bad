# SPDX-License-Identifier: Apache-2.0
"""drone.launch.py and gcs.launch.py: a tunnel, rekeys by service and action, refusals, and a manager of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("launch_ros.actions", reason="launch is not installed; test_up.py starts the same systems")

from launching import ARRANGEMENTS, launched, tap
from pqc_mav_interfaces import action
from pqc_mav_interfaces.msg import BatteryHealth, PolicyDecision, TunnelStatus
from pqc_mav_interfaces.srv import Rekey
from rcl_interfaces.msg import LoggerLevel
from rcl_interfaces.srv import SetLoggerLevels
from rclpy.qos import qos_profile_sensor_data
from test_up import Ends

from pqc_mav_common import qos
from pqc_mav_common.testing import until
from pqc_mav_common.testing_onlooker import Onlooker
from pqc_mav_common.testing_traffic import Traffic

OTHER = "cs-mlkem768-chacha20poly1305-mldsa65"
ONBOARD = tuple(f"/drone/pqc_{name}" for name in ("battery", "thermal", "power", "system", "policy"))


@pytest.fixture(scope="module", params=ARRANGEMENTS)
def ends(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, keys: Path) -> Iterator[Ends]:
    """Both ends with all their nodes, launched; the policy only watches."""
    folder = tmp_path_factory.mktemp("ends")
    made = Ends(folder, keys)
    watching = folder / "policy.yaml"
    watching.write_text('{"/**": {"pqc_policy": {"ros__parameters": {"mode": "hold"}}}}')
    gcs = launched("gcs", params_file=made.write("gcs"), record=folder / "flights", **request.param)
    drone = launched(
        "drone",
        config=made.write("drone"),
        **request.param,
        policy_config=watching,
        tap=tap(),
        record=folder / "flight.mcap",
    )
    with gcs as ground, drone as air:
        air.wait_for("-> UP")
        ground.wait_for("-> UP")
        yield made
    assert (folder / "flight.mcap").is_file(), "the recording is not complete:\n" + "\n".join(air.lines)
    assert len(list((folder / "flights").glob("flight_*.mcap"))) == 1


@pytest.fixture(scope="module")
def graph() -> Iterator[Onlooker]:
    with Onlooker() as made:
        yield made


def test_every_node_is_active_by_itself(ends: Ends, graph: Onlooker) -> None:
    for node in ("/gcs/pqc_proxy", "/drone/pqc_proxy", "/drone/flight_recorder", "/gcs/flight_recorder", *ONBOARD):
        until(lambda node=node: graph.state(node) == "active", f"{node} active")


def test_rekeys_by_service_and_action_while_traffic_flows(ends: Ends, graph: Onlooker) -> None:
    with Traffic(ends.ground).start(ends.plain) as traffic:
        traffic.flows()
        seen = graph.collect(TunnelStatus, "/drone/pqc_proxy/status", qos.latched(1))
        answer = graph.call(Rekey, "/drone/pqc_proxy/rekey", Rekey.Request(suite=OTHER, reason="launch test"))
        assert answer.ok and answer.suite == OTHER, answer.message
        until(lambda: seen and seen[-1].suite == OTHER, "the status says so")
        result, feedback = graph.act(action.Rekey, "/gcs/pqc_proxy/rekey_action", action.Rekey.Goal(reason="again"))
        assert result.ok and result.epoch == answer.epoch + 1 and feedback, result.message
        traffic.flows()
        last = traffic.up[-1]
        assert traffic.up == sorted(set(traffic.up)), "nothing twice, nothing out of order"
        assert last - traffic.up[0] + 1 == len(traffic.up), "nothing lost"


def test_refusals_are_answers_and_change_nothing(ends: Ends, graph: Onlooker) -> None:
    answer = graph.call(Rekey, "/drone/pqc_proxy/rekey", Rekey.Request(suite="cs-nonsense"))
    assert not answer.ok and "cs-nonsense" in answer.message
    answer = graph.call(Rekey, "/drone/pqc_proxy/rekey", Rekey.Request(suite="cs-mlkem512-aesgcm-falcon512"))
    assert not answer.ok and "falcon512" in answer.message.lower(), answer.message
    result, _ = graph.act(action.Rekey, "/gcs/pqc_proxy/rekey_action", action.Rekey.Goal(drone_id="d9"))
    assert not result.ok and "d9" in result.message
    refused = graph.put("/drone/pqc_proxy", "role", "gcs")
    assert not refused.successful and "read-only" in refused.reason
    refused = graph.put("/drone/pqc_battery", "chemisty", "lipo")
    assert not refused.successful


def test_the_tunnel_goes_down_and_up_under_traffic(ends: Ends, graph: Onlooker) -> None:
    proxy = "/drone/pqc_proxy"
    with Traffic(ends.ground).start(ends.plain) as traffic:
        for _ in range(2):
            traffic.flows()
            assert graph.change(proxy, "deactivate")
            before = len(traffic.up)
            until(lambda sent=traffic.sent: traffic.sent > sent + 30, "time for plaintext to leak")
            assert len(traffic.up) <= before + 2, "what was on its way"
            assert graph.change(proxy, "activate")
        traffic.flows()
        assert graph.put(proxy, "dscp", 10).successful
        assert graph.change(proxy, "deactivate", "cleanup", "configure", "activate")
        traffic.flows()
    assert "dscp: 10\n" in graph.dump(proxy)


def test_senses_and_policy_rest_and_come_back_with_other_parameters(ends: Ends, graph: Onlooker) -> None:
    health = graph.collect(BatteryHealth, "/drone/battery", qos_profile_sensor_data)
    decisions = graph.collect(PolicyDecision, "/drone/pqc_policy/decision", qos.latched(1))
    until(lambda: health and decisions, "both speak")
    for node in ("/drone/pqc_battery", "/drone/pqc_policy"):
        assert graph.change(node, "deactivate")
    said = len(health), len(decisions)
    time.sleep(1.5)
    assert len(health) <= said[0] + 1 and len(decisions) <= said[1] + 1, "they rest"
    assert graph.put("/drone/pqc_battery", "chemistry", "liion").successful
    assert graph.put("/drone/pqc_policy", "strategy", "expert").successful
    for node in ("/drone/pqc_battery", "/drone/pqc_policy"):
        assert graph.change(node, "cleanup", "configure", "activate")
    until(lambda: health[-1].chemistry == "liion" and decisions[-1].strategy == "expert", "what was set")
    assert graph.put("/drone/pqc_battery", "chemistry", "lead").successful
    assert graph.change("/drone/pqc_battery", "deactivate", "cleanup")
    assert not graph.change("/drone/pqc_battery", "configure"), "there is no such chemistry"
    assert graph.put("/drone/pqc_battery", "chemistry", "lipo").successful
    assert graph.change("/drone/pqc_battery", "configure", "activate")


def test_the_log_level_of_a_node_changes(ends: Ends, graph: Onlooker) -> None:
    level = LoggerLevel(name="drone.pqc_proxy", level=LoggerLevel.LOG_LEVEL_DEBUG)
    request = SetLoggerLevels.Request(levels=[level])
    assert graph.call(SetLoggerLevels, "/drone/pqc_proxy/set_logger_levels", request).results[0].successful
