# SPDX-License-Identifier: Apache-2.0
"""The node from inside ROS: topics, services, parameters and lifecycle, with the real engine on both ends."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces import action
from pqc_mav_interfaces.msg import HandshakeReport, LinkQuality, ServerStats, TunnelStats, TunnelStatus
from pqc_mav_interfaces.srv import GetInfo, ListSuites, Rekey
from rcl_interfaces.srv import DescribeParameters
from rclpy.executors import MultiThreadedExecutor
from rclpy.parameter import Parameter

from pqc_mav_common import qos
from pqc_mav_common.action_call import ActionCall
from pqc_mav_common.lifecycle import bring_up
from pqc_mav_common.testing import DEADLINE_S, until
from pqc_mav_common.testing_onlooker import Onlooker
from pqc_mav_common.testing_proxies import drone_parameters, gcs_parameters, ros_arguments
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
def ros() -> Iterator[None]:
    rclpy.init()
    yield
    rclpy.try_shutdown()


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
    spinning = [Spinning(MultiThreadedExecutor(2), [node]) for node in nodes.values()]
    for node in nodes.values():
        bring_up(node)
    yield nodes
    for each in spinning:
        each.end()


@pytest.fixture(scope="module")
def client(ros: None) -> Iterator[Onlooker]:
    with Onlooker() as made:
        yield made


def test_the_engine_may_log_at_any_level_in_any_order(pair: dict[str, PqcProxyNode]) -> None:
    """rclpy raises when one line of a program logs with different severities, which would end the executor."""
    for level in ("warning", "info", "error", "info", "warning"):
        pair["gcs"]._log(level, f"said at level {level}")


def test_a_late_subscriber_gets_the_whole_latched_set(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    seen = client.collect(TunnelStatus, "/gcs/pqc_proxy/status", qos.latched(2))

    def newest() -> dict[str, TunnelStatus]:
        return {message.drone_id: message for message in seen}

    until(lambda: set(newest()) == {"d1", "d2"} and newest()["d1"].state == TunnelStatus.UP, "both statuses")
    up = newest()["d1"]
    assert up.role == "gcs" and up.suite == SUITE and up.hybrid and up.peer and len(up.session_id) == 16
    assert newest()["d2"].state == TunnelStatus.DOWN and newest()["d2"].suite == ""


def test_periodic_topics(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    stats = client.collect(TunnelStats, "/drone/pqc_proxy/stats", qos.periodic(1))
    links = client.collect(LinkQuality, "/drone/pqc_proxy/link", qos.periodic(2))
    reports = client.collect(DiagnosticArray, "/diagnostics", qos.periodic(1))
    until(lambda: any(message.rx_packets_per_s > 0 for message in stats), "a rate above zero")
    until(lambda: {message.side for message in links} == {"local", "peer"}, "both sides of the link")
    until(lambda: any(message.rtt_ms > 0 for message in links), "a round-trip time")
    newest = stats[-1]
    drops = sum(getattr(newest, field) for field in newest.get_fields_and_field_types() if field.startswith("drop_"))
    assert newest.enc_rx_packets == newest.delivered + newest.control + drops

    def names() -> dict[str, int]:
        return {status.name: status.level[0] for report in reports for status in report.status}

    wanted = {
        "drone/pqc_proxy: tunnel d1",
        "gcs/pqc_proxy: tunnel d1",
        "gcs/pqc_proxy: tunnel d2",
        "gcs/pqc_proxy: handshake server",
        "gcs/pqc_proxy: data port",
        "drone/pqc_proxy: data port",
    }
    until(lambda: wanted <= set(names()), "diagnostics of both ends")


def test_the_counters_of_all_datagrams_come_only_while_somebody_listens(
    pair: dict[str, PqcProxyNode], ros: None
) -> None:
    thread = pair["gcs"]._detectors
    assert not thread.running
    with Onlooker() as onlooker:
        seen = onlooker.collect(ServerStats, "/gcs/pqc_proxy/server_stats", qos.sensor())
        until(lambda: len(seen) >= 5, "counters")
    newest = seen[-1]
    assert newest.drone_ids == ["d1", "d2"] and newest.opened[0] > 0 and newest.opened[1] == 0
    fields = newest.get_fields_and_field_types()
    parts = [
        *(field for field in fields if field.startswith("drop_") and field != "drop_kernel"),
        "delivered",
        "control",
    ]
    parts += [f"hs_{outcome}" for outcome in HANDSHAKE_OUTCOMES]
    assert newest.enc_rx_datagrams == sum(getattr(newest, part) for part in parts)
    assert newest.enc_rx_bytes > newest.enc_rx_datagrams and newest.hs_completed >= 1
    until(lambda: not thread.running, "silence")


def test_the_counters_come_ten_times_a_second(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    seen = client.collect(ServerStats, "/gcs/pqc_proxy/server_stats", qos.sensor())
    until(lambda: len(seen) > 30, "counters")
    stamps = [each.header.stamp.sec + each.header.stamp.nanosec / 1e9 for each in seen]
    # The median of many: a machine that stands still for a while moves a few of them.
    assert 0.05 <= median(after - before for before, after in pairwise(stamps)) <= 0.25


def test_the_counters_say_where_what_is_refused_comes_from(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    seen = client.collect(ServerStats, "/gcs/pqc_proxy/server_stats", qos.sensor())
    until(lambda: bool(seen), "counters")
    assert (seen[0].refused_network, seen[0].refused_share) == ("", 0.0)
    port = pair["gcs"].get_parameter("data_port").value
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(("127.0.9.1", 0))

        def named() -> bool:
            stranger.sendto(b"of no session", ("127.0.0.1", port))
            return seen[-1].refused_network == "127.0.9.0/24"

        until(named, "the stranger's network")
    assert seen[-1].refused_share == 1.0


def test_the_handshake_report_is_there_for_late_comers(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    seen = client.collect(HandshakeReport, "/drone/pqc_proxy/handshake", qos.event())
    until(lambda: any(message.ok for message in seen), "the report of the handshake")
    report = next(message for message in seen if message.ok)
    assert report.role == "drone" and report.suite and report.handshake_ms > 0
    assert report.sig_verify_ms > 0 and report.kem_encaps_ms > 0 and report.sig_sign_ms == 0
    assert report.bytes_received > report.signature_bytes > 0


def test_list_suites(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    answer = client.call(ListSuites, "/gcs/pqc_proxy/list_suites")
    assert answer.ok and len(answer.suites) == 72 and answer.suites[0].id.startswith("cs-")
    answer = client.call(ListSuites, "/gcs/pqc_proxy/list_suites", ListSuites.Request(view="extended"))
    assert len(answer.suites) == 132
    answer = client.call(ListSuites, "/gcs/pqc_proxy/list_suites", ListSuites.Request(view="nonsense"))
    assert not answer.ok and answer.message and not answer.suites


def test_get_info_has_the_configuration_and_no_secret(
    pair: dict[str, PqcProxyNode], client: Onlooker, keys: Path
) -> None:
    answer = client.call(GetInfo, "/drone/pqc_proxy/get_info")
    config = json.loads(answer.config_json)
    assert answer.role == "drone" and answer.engine_version and answer.cpu_count >= 1
    assert config["drone_id"] == "d1" and config["suite"] == SUITE and config["dscp"] == 46
    for secret in keys.rglob("*.key"):
        assert secret.read_text().splitlines()[-1] not in str(answer)


def test_parameters_are_described_and_bounded(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    names = ["dscp", "keepalive_s", "suite", "keys", "role", "autostart"]
    described = client.call(
        DescribeParameters, "/drone/pqc_proxy/describe_parameters", DescribeParameters.Request(names=names)
    ).descriptors
    assert all(each.description for each in described)
    assert [each.read_only for each in described] == [False] * 3 + [True] * 3
    assert (described[0].integer_range[0].from_value, described[0].integer_range[0].to_value) == (0, 63)
    assert described[1].floating_point_range[0].to_value > 1
    values = client.values("/drone/pqc_proxy")
    assert values["dscp"] == 46 and values["suite"] == SUITE
    assert Path(values["keys"]).is_dir()  # a path, never a key
    for name, value, sentence in (
        ("dscp", 64, "dscp"),
        ("suite", 7, "Wrong parameter type"),
        ("role", "gcs", "read-only"),
    ):
        result = client.put("/drone/pqc_proxy", name, value)
        assert not result.successful and sentence in result.reason, result


def test_shaping_can_be_set_while_the_tunnel_runs(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    seen = client.collect(TunnelStatus, "/drone/pqc_proxy/status", qos.latched(1))
    for kbit in (64, 0):
        assert client.put("/drone/pqc_proxy", "shape_kbit", kbit).successful
        until(lambda kbit=kbit: seen and seen[-1].shape_kbit == kbit, f"{kbit} kbit/s in the status")
    result = client.put("/drone/pqc_proxy", "shape_kbit", -1)
    assert not result.successful and "shape_kbit" in result.reason


def test_what_protects_the_link_is_fixed(pair: dict[str, PqcProxyNode]) -> None:
    """Whoever reaches the ROS graph must not be able to send plaintext elsewhere or to allow weaker suites."""
    for end, wishes in (
        ("drone", {"plain_peer": "203.0.113.9:1", "plain_allow_remote": True, "hybrid": False}),
        ("gcs", {"drone.d1.plain_peer": "203.0.113.9:1", "allowed_suites": ["x"], "drones": ["d9"], "keys": "/tmp"}),
    ):
        for name, value in wishes.items():
            (result,) = pair[end].set_parameters([Parameter(name, value=value)])
            assert not result.successful and "read-only" in result.reason, name


def test_per_drone_parameters_of_the_gcs(pair: dict[str, PqcProxyNode]) -> None:
    for drone in ("d1", "d2"):
        assert pair["gcs"].get_parameter(f"drone.{drone}.plain_peer").value == "127.0.0.1:14550"


def test_rekey_changes_the_suite_while_topics_flow(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    seen = client.collect(TunnelStatus, "/drone/pqc_proxy/status", qos.latched(1))
    until(lambda: seen, "a status before")
    before = seen[-1].epoch
    request = Rekey.Request(suite="cs-mlkem1024-aesgcm-mldsa87", reason="test")
    answer = client.call(Rekey, "/drone/pqc_proxy/rekey", request)
    assert answer.ok, answer.message
    assert answer.suite == request.suite and answer.epoch == before + 1
    until(lambda: seen[-1].suite == request.suite and seen[-1].state == TunnelStatus.UP, "the new suite")
    back = client.call(Rekey, "/drone/pqc_proxy/rekey", Rekey.Request(suite=SUITE))
    assert back.ok, back.message


def test_a_ratchet_is_reported_as_one(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    seen = client.collect(TunnelStatus, "/drone/pqc_proxy/status", qos.latched(1))
    reports = client.collect(HandshakeReport, "/drone/pqc_proxy/handshake", qos.latched(10))
    drone = pair["drone"].get_parameter("drone_id").value
    answer = client.call(Rekey, "/gcs/pqc_proxy/rekey", Rekey.Request(drone_id=drone, kind="ratchet"))
    assert answer.ok and "Ratcheted" in answer.message, answer.message
    until(lambda: seen and seen[-1].ratchets == 1, "the status counts it")
    until(lambda: reports and reports[-1].kind == "ratchet", "the report names it")
    assert reports[-1].rekey and reports[-1].signature_bytes == 0
    assert "'wrench'" in client.call(Rekey, "/drone/pqc_proxy/rekey", Rekey.Request(kind="wrench")).message
    assert client.call(Rekey, "/drone/pqc_proxy/rekey").ok
    until(lambda: seen[-1].ratchets == 0, "a full one begins anew")


def test_rekey_refusals_are_answers(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    answer = client.call(Rekey, "/drone/pqc_proxy/rekey", Rekey.Request(suite="cs-nonsense"))
    assert not answer.ok and answer.message
    assert answer.suite == SUITE  # what is in use, not what was asked for
    answer = client.call(Rekey, "/gcs/pqc_proxy/rekey")
    assert not answer.ok and "2 drones" in answer.message and "d1, d2" in answer.message
    answer = client.call(Rekey, "/gcs/pqc_proxy/rekey", Rekey.Request(drone_id="d9"))
    assert not answer.ok and "d9" in answer.message


class HeldEngine:
    """An engine whose first rekey takes until somebody else has asked, as a slow handshake does."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._asked = threading.Semaphore(0)
        self._first = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def request_rekey(self, _drone: str, **_asked: Any) -> dict[str, Any]:
        if self._first.acquire(blocking=False):
            ok = self._asked.acquire(timeout=DEADLINE_S / 2)
            message = "done" if ok else "nobody"
            return {"ok": ok, "suite": SUITE, "epoch": 1, "rekey_ms": 1.0, "pin_for_s": 0.0, "message": message}
        self._asked.release()
        message = "Busy: another rekey runs."
        return {"ok": False, "suite": "", "epoch": 0, "rekey_ms": 0.0, "pin_for_s": 0.0, "message": message}


def test_who_asks_while_a_rekey_runs_is_answered_at_once(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    host = pair["drone"]._host
    assert host is not None
    engine, host.engine = host.engine, HeldEngine(host.engine)
    try:
        both = [client.ask(Rekey, "/drone/pqc_proxy/rekey", Rekey.Request(reason=str(i))) for i in range(2)]
        until(lambda: all(each.done() for each in both), "both answers")
    finally:
        host.engine = engine
    answers = sorted((each.result() for each in both), key=lambda answer: answer.ok)
    assert not answers[0].ok and answers[0].message.startswith("Busy") and answers[0].suite
    assert answers[1].ok, answers[1].message


def test_the_gcs_passes_a_rekey_on_to_the_drone(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    seen = client.collect(TunnelStatus, "/drone/pqc_proxy/status", qos.latched(1))
    until(lambda: seen, "a status before")
    before = seen[-1].epoch
    answer = client.call(Rekey, "/gcs/pqc_proxy/rekey", Rekey.Request(drone_id=seen[-1].drone_id, reason="test"))
    assert answer.ok, answer.message
    assert answer.epoch == before + 1
    until(lambda: seen[-1].epoch == answer.epoch, "the drone's new epoch")


def test_an_action_rekeys_and_reports_its_phases(pair: dict[str, PqcProxyNode], client: Onlooker) -> None:
    for end, drone in (("drone", ""), ("gcs", pair["drone"].get_parameter("drone_id").value)):
        phases: list[str] = []
        call = ActionCall(client.node, action.Rekey, f"/{end}/pqc_proxy/rekey_action")
        try:
            assert call.wait_ready(DEADLINE_S)

            def rekey(call: ActionCall = call, drone: str = drone, phases: list[str] = phases) -> bool:
                phases.clear()
                goal = action.Rekey.Goal(reason="test", drone_id=drone)
                pending = call.begin(goal, lambda heard: phases.append(heard.phase))  # type: ignore[misc]
                assert pending.wait(DEADLINE_S), "no result"
                assert pending.result.ok, pending.result.message
                assert pending.result.suite == SUITE
                # Feedback has a topic of its own, and the server may find this client's end of it after the services.
                end = time.monotonic() + FEEDBACK_S
                while phases[-1:] != ["installed"] and time.monotonic() < end:
                    time.sleep(0.02)
                return phases[-1:] == ["installed"]

            until(rekey, "a rekey with its last phase")
            assert phases[0] == "requested"
        finally:
            call.close()


def test_lifecycle_from_outside(keys: Path, client: Onlooker) -> None:
    """A manager brings it up, down and up again; the second start reads the keys anew."""
    arguments = ros_arguments({**gcs_parameters(keys), "autostart": False}, "managed")
    node = PqcProxyNode(cli_args=arguments, use_global_arguments=False)
    spinning = Spinning(MultiThreadedExecutor(2), [node])
    name = "/managed/pqc_proxy"
    try:
        assert client.state(name) == "unconfigured"
        assert client.change(name, "configure") and client.state(name) == "inactive"
        seen = client.collect(TunnelStatus, f"{name}/status", qos.latched(1))
        for _ in range(2):
            assert client.change(name, "activate") and client.state(name) == "active"
            assert client.change(name, "deactivate") and client.state(name) == "inactive"
        until(lambda: seen and seen[-1].state == TunnelStatus.DOWN, "the last word")
        answer = client.call(Rekey, f"{name}/rekey")
        assert not answer.ok and "not active" in answer.message
    finally:
        spinning.end()


def test_a_fault_fails_the_transition_and_can_be_put_right(keys: Path, client: Onlooker, tmp_path: Path) -> None:
    arguments = ros_arguments({**gcs_parameters(keys), "keys": str(tmp_path / "later"), "autostart": False}, "faulty")
    node = PqcProxyNode(cli_args=arguments, use_global_arguments=False)
    spinning = Spinning(MultiThreadedExecutor(2), [node])
    name = "/faulty/pqc_proxy"
    try:
        assert not client.change(name, "configure") and client.state(name) == "unconfigured"
        assert node.failure is not None and "later" in str(node.failure)
        (tmp_path / "later").symlink_to(keys / "gcs")
        assert client.change(name, "configure") and client.state(name) == "inactive"
        assert node.failure is None
    finally:
        spinning.end()


def test_what_is_set_counts_from_the_next_configure_on(keys: Path, client: Onlooker) -> None:
    arguments = ros_arguments({**gcs_parameters(keys), "autostart": False}, "changed")
    node = PqcProxyNode(cli_args=arguments, use_global_arguments=False)
    spinning = Spinning(MultiThreadedExecutor(2), [node])
    name = "/changed/pqc_proxy"

    def changed(parameter: str, value: Any) -> None:
        result = client.put(name, parameter, value)
        assert result.successful, result.reason

    def dscp() -> int:
        answer = client.call(GetInfo, f"{name}/get_info")
        return int(json.loads(answer.config_json)["dscp"])

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


def test_what_the_engine_says_before_the_topics_are_open_waits(ros: None, keys: Path, client: Onlooker) -> None:
    """A handshake on one machine may end before the activation of the node does."""
    gcs = gcs_parameters(keys)
    ground = PqcProxyNode(cli_args=ros_arguments(gcs, "early_gcs"), use_global_arguments=False)
    node = Watched(
        cli_args=ros_arguments(drone_parameters(keys, gcs["data_port"]), "early"), use_global_arguments=False
    )
    spinning = [Spinning(MultiThreadedExecutor(2), [each]) for each in (ground, node)]
    start = node._start_host

    def start_and_dawdle() -> None:
        start()
        assert node._host is not None
        engine = node._host.engine
        until(lambda: engine.status()[0]["handshakes_ok"] == 1, "the handshake")
        looks = node.looks
        node._events_ready.trigger()
        until(lambda: node.looks > looks, "a look for events")

    node._start_host = start_and_dawdle  # type: ignore[method-assign]
    try:
        bring_up(ground)
        bring_up(node)
        seen = client.collect(HandshakeReport, "/early/pqc_proxy/handshake", qos.event())
        until(lambda: any(message.ok for message in seen), "the report of the handshake")
    finally:
        for each in spinning:
            each.end()
