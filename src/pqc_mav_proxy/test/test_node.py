# SPDX-License-Identifier: Apache-2.0
"""The node from inside ROS: topics, services, parameters and lifecycle, with the real engine on both ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pqc_mav_interfaces.msg import HandshakeReport, ThreatReport, TunnelStatus
from pqc_mav_interfaces.srv import GetInfo, Rekey
from rclpy.executors import MultiThreadedExecutor
from rclpy.parameter import Parameter

from pqc_mav_common import qos
from pqc_mav_common.executors import Spun
from pqc_mav_common.key_values import flat
from pqc_mav_common.lifecycle import bring_up
from pqc_mav_common.testing import DEADLINE_S, until
from pqc_mav_common.testing_onlooker import Onlooker
from pqc_mav_common.testing_proxies import drone_parameters, gcs_parameters, ros_arguments
from pqc_mav_proxy.engine_host import EngineHost
from pqc_mav_proxy.node import PqcProxyNode

SUITE = "cs-mlkem768-aesgcm-mldsa65"
FEEDBACK_S = 5.0
HANDSHAKE_OUTCOMES = ("taken", "repeated", "malformed", "unknown", "tag", "gate", "replay", "limit")


class Spinning:
    """Nodes in an executor of their own, with an orderly end."""

    def __init__(self, executor: Any, nodes: list[Any]) -> None:
        self.executor, self.nodes = executor, nodes
        for node in nodes:
            executor.add_node(node)
        self.thread = threading.Thread(target=executor.spin)
        self.thread.start()

    def end(self) -> None:
        for node in self.nodes:
            if isinstance(node, PqcProxyNode):
                node.close()
        self.executor.shutdown()
        self.thread.join()
        for node in self.nodes:
            node.destroy_node()


@pytest.fixture(scope="module")
def pair(ros: None, keys: Path) -> Iterator[dict[str, PqcProxyNode]]:
    """A gcs that serves d1 and d2, and the drone d1, both up."""
    gcs = gcs_parameters(keys, ("d1", "d2"))
    nodes = {
        "gcs": PqcProxyNode(cli_args=ros_arguments(gcs, "gcs"), use_global_arguments=False),
        "drone": PqcProxyNode(
            cli_args=ros_arguments(drone_parameters(keys, gcs["data_port"]), "drone"), use_global_arguments=False
        ),
    }
    spinning = [Spinning(Spun(MultiThreadedExecutor(2)), [node]) for node in nodes.values()]
    for node in nodes.values():
        bring_up(node)
    yield nodes
    for each in spinning:
        each.end()


def test_the_engine_may_log_at_any_level_in_any_order(pair: dict[str, PqcProxyNode]) -> None:
    """rclpy raises when one line of a program logs with different severities, which would end the executor."""
    for level in ("warning", "info", "error", "info", "warning"):
        pair["gcs"]._log(level, f"said at level {level}")


def test_shaping_can_be_set_while_the_tunnel_runs(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    seen = client.collect(TunnelStatus, "/drone/pqc_proxy/status", qos.latched(1))
    for kbit in (64, 0):
        assert client.put("/drone/pqc_proxy", "shape_kbit", kbit).successful
        until(lambda kbit=kbit: seen and seen[-1].shape_kbit == kbit, f"{kbit} kbit/s in the status")
    result = client.put("/drone/pqc_proxy", "shape_kbit", -2)
    assert not result.successful and "shape_kbit" in result.reason


def test_what_a_detector_says_reaches_the_other_end(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    told = client.collect(TunnelStatus, "/gcs/pqc_proxy/status", qos.latched(2))
    detector = client.node.create_publisher(ThreatReport, "/drone/threat", qos.periodic(1))

    def heard(level: int, kind: str) -> bool:
        detector.publish(ThreatReport(level=level, kind=kind))
        of_d1 = [each for each in told if each.drone_id == "d1"]
        return bool(of_d1) and (of_d1[-1].peer_alarm, of_d1[-1].peer_alarm_kind) == (level, kind)

    try:
        until(lambda: heard(ThreatReport.ATTACK, "forgery"), "the alarm on the ground")
        assert all(each.peer_alarm == 0 for each in told if each.drone_id == "d2")
        until(lambda: heard(ThreatReport.NONE, ""), "its end")
    finally:
        client.node.destroy_publisher(detector)


def test_what_protects_the_link_is_fixed(pair: dict[str, PqcProxyNode]) -> None:
    """Whoever reaches the ROS graph must not be able to send plaintext elsewhere or to allow weaker suites."""
    for end, wishes in (
        ("drone", {"plain_peer": "203.0.113.9:1", "plain_allow_remote": True, "hybrid": False}),
        ("gcs", {"drone.d1.plain_peer": "203.0.113.9:1", "allowed_suites": ["x"], "drones": ["d9"], "keys": "/tmp"}),
    ):
        for name, value in wishes.items():
            (result,) = pair[end].set_parameters([Parameter(name, value=value)])
            assert not result.successful and "read-only" in result.reason, name


class HeldHost:
    """An engine whose first rekey takes until somebody else has asked, as a slow handshake does."""

    def __init__(self, host: Any) -> None:
        self._host = host
        self._asked = threading.Semaphore(0)
        self._first = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        if command != "request_rekey":
            return dict(self._host.ask(command, **fields))
        answer = {"ok": False, "suite": SUITE, "epoch": 1, "rekey_ms": 1.0, "pin_for_s": 0.0}
        if self._first.acquire(blocking=False):
            ok = self._asked.acquire(timeout=DEADLINE_S / 2)
            return {**answer, "ok": ok, "message": "done" if ok else "nobody"}
        self._asked.release()
        return {**answer, "message": "Busy: another rekey runs."}


def test_who_asks_while_a_rekey_runs_is_answered_at_once(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    host = pair["drone"]._host
    assert host is not None
    pair["drone"]._host = HeldHost(host)  # type: ignore[assignment]
    try:
        both = [client.ask(Rekey, "/drone/pqc_proxy/rekey", Rekey.Request(reason=str(i))) for i in range(2)]
        until(lambda: all(each.done() for each in both), "both answers")
    finally:
        pair["drone"]._host = host
    answers = sorted((each.result() for each in both), key=lambda answer: answer.ok)
    assert not answers[0].ok and answers[0].message.startswith("Busy") and answers[0].suite
    assert answers[1].ok, answers[1].message


def test_what_is_set_counts_from_the_next_configure_on(keys: Path, client: Onlooker) -> None:
    arguments = ros_arguments({**gcs_parameters(keys), "autostart": False}, "changed")
    node = PqcProxyNode(cli_args=arguments, use_global_arguments=False)
    spinning = Spinning(Spun(MultiThreadedExecutor(2)), [node])
    name = "/changed/pqc_proxy"

    def changed(parameter: str, value: Any) -> None:
        result = client.put(name, parameter, value)
        assert result.successful, result.reason

    def dscp() -> int:
        answer = client.call(GetInfo, f"{name}/get_info")
        return int(flat(answer.config)["dscp"])

    try:
        assert client.change(name, "configure", "activate") and dscp() == 46
        changed("dscp", 10)
        assert client.change(name, "deactivate", "activate") and dscp() == 46
        assert client.change(name, "deactivate", "cleanup")
        changed("bind", "nowhere")
        assert client.change(name, "configure") and not client.change(name, "activate")
        assert node.failure is not None and "nowhere" in str(node.failure)
        changed("bind", "127.0.0.1")
        assert client.state(name) == "inactive" and client.change(name, "cleanup")
        assert client.change(name, "configure", "activate") and dscp() == 10
    finally:
        spinning.end()


class Watched(PqcProxyNode):
    """Counts how often it looked for events."""

    looks = 0

    def _handle_events(self) -> None:
        super()._handle_events()
        self.looks += 1


def test_what_the_engine_says_before_the_topics_are_open_waits(
    ros: None, keys: Path, client: Onlooker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handshake on one machine may end before the activation of the node does."""
    gcs = gcs_parameters(keys)
    ground = PqcProxyNode(cli_args=ros_arguments(gcs, "early_gcs"), use_global_arguments=False)
    node = Watched(
        cli_args=ros_arguments(drone_parameters(keys, gcs["data_port"]), "early"), use_global_arguments=False
    )
    spinning = [Spinning(Spun(MultiThreadedExecutor(2)), [each]) for each in (ground, node)]
    start = EngineHost.start

    def start_and_dawdle(host: EngineHost) -> None:
        start(host)
        if host is not node._host:
            return
        until(lambda: host.ask("picture", of="status")["status"][0]["handshakes_ok"] == 1, "the handshake")
        looks = node.looks
        node._events_ready.trigger()
        until(lambda: node.looks > looks, "a look for events")

    monkeypatch.setattr(EngineHost, "start", start_and_dawdle)
    try:
        bring_up(ground)
        bring_up(node)
        seen = client.collect(HandshakeReport, "/early/pqc_proxy/handshake", qos.event())
        until(lambda: any(message.ok for message in seen), "the report of the handshake")
    finally:
        for each in spinning:
            each.end()
