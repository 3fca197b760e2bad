# SPDX-License-Identifier: Apache-2.0
"""The agent's services, with a proxy that is only a pair of topics."""

from __future__ import annotations

import json
import threading

import pytest
import rclpy
from pqc_mav_interfaces.msg import HandshakeReport, TunnelStats, TunnelStatus
from rclpy.executors import MultiThreadedExecutor
from support import OPTIONS

from pqc_mav_bench.agent_node import AgentNode
from pqc_mav_bench.collectors.governor import GovernorPin
from pqc_mav_bench.controller_ends import RosGround
from pqc_mav_bench.errors import AgentLostError, AgentTakenError, BenchError
from pqc_mav_common import qos
from pqc_mav_common.executors import Spun
from pqc_mav_common.lifecycle import bring_up
from pqc_mav_common.testing import until

SUITE = "cs-mlkem768-aesgcm-mldsa65"
COMMON = {"run": 1, "shared_clock": True, "workload": {**OPTIONS.workload.model_dump(), "kind": "bulk"}}


class StandIn:
    """Publishes what the gcs proxy would."""

    def __init__(self, node) -> None:
        self._status = node.create_publisher(TunnelStatus, "/gcs/pqc_proxy/status", qos.latched(1))
        self._stats = node.create_publisher(TunnelStats, "/gcs/pqc_proxy/stats", qos.periodic(1))
        self._handshake = node.create_publisher(HandshakeReport, "/gcs/pqc_proxy/handshake", qos.event())
        self.packets = 0
        self._status.publish(
            TunnelStatus(
                state=TunnelStatus.UP, drone_id="d", suite=SUITE, epoch=3, plain_peer="127.0.0.1:0", peer="127.0.0.1:1"
            )
        )
        node.create_timer(0.05, self._tick)

    def _tick(self) -> None:
        self.packets += 10
        self._stats.publish(TunnelStats(drone_id="d", enc_rx_packets=self.packets, delivered=self.packets))

    def report(self, ok: bool) -> None:
        self._handshake.publish(HandshakeReport(drone_id="d", ok=ok, suite=SUITE, epoch=3, handshake_ms=5.0))


@pytest.fixture
def bench():
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    executor = Spun(MultiThreadedExecutor(num_threads=4, context=context))
    agent = AgentNode(context=context, namespace="/gcs")
    client = rclpy.create_node("client", context=context)
    stand_in = StandIn(client)
    for node in (agent, client):
        executor.add_node(node)
    bring_up(agent)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    yield agent, client, stand_in
    agent.close()
    executor.shutdown()
    thread.join()
    for node in (agent, client):
        node.destroy_node()
    rclpy.shutdown(context=context)


def ready(ground: RosGround) -> bool:
    return bool(until(ground.ready, "the agent's answer"))


def test_a_run_on_the_ground_and_who_may_ask_for_it(bench, monkeypatch):
    agent, client, stand_in = bench
    ground, other = (RosGround(client, "/gcs/bench_agent", name) for name in ("one", "two"))
    assert ready(ground)
    info = ground.info()
    assert info["cpu_count"] > 0
    assert info["clock_id"]
    exchange = ground.exchange()
    assert exchange.t1 <= exchange.t2 <= exchange.t3 <= exchange.t4

    began = ground.start_suite(SUITE, 1)
    assert began > exchange.t3
    with pytest.raises(AgentTakenError, match=r"works for another controller \(one\)"):
        other.start_suite(SUITE, 1)
    ground.start_traffic(COMMON)
    stand_in.report(ok=False)
    stand_in.report(ok=True)
    assert agent.watch.wait(lambda: agent.recorder.window is not None, 20)
    assert ground.quiet() == 0
    ground.stop_traffic(0)
    with pytest.raises(BenchError, match="was not started here"):
        ground.end_stop(ground.begin_stop("cs-other"))
    measured = ground.end_stop(ground.begin_stop(SUITE))
    assert (measured["suite"], measured["epoch"]) == (SUITE, 3)
    assert measured["counters"]["delivered"] > 0
    assert [report["ok"] for report in measured["handshakes"]] == [False, True]
    assert measured["workload"]["kind"] == "bulk"
    assert measured["system"]["samples"] >= 2
    json.dumps(measured, allow_nan=False)

    other.start_suite(SUITE, 1)  # between two runs nobody holds it
    with monkeypatch.context() as patched:
        patched.setattr(agent.recorder, "finish", lambda: (_ for _ in ()).throw(BenchError("no counters")))
        with pytest.raises(BenchError, match="no counters"):
            other.end_stop(other.begin_stop(SUITE))
    ground.start_suite(SUITE, 1)  # nor after one that could not be measured

    assert not agent.shutdown_asked.is_set()
    ground.shutdown()
    assert agent.shutdown_asked.is_set()


def test_the_governor_is_pinned_while_a_run_is_measured_and_the_run_says_so(bench, tmp_path):
    agent, client, stand_in = bench
    core = tmp_path / "cpu0/cpufreq/scaling_governor"
    core.parent.mkdir(parents=True)
    core.write_text("schedutil\n")
    ground = RosGround(client, "/gcs/bench_agent", "one")
    assert ready(ground)
    agent.recorder._governor = GovernorPin(tmp_path)
    ground.start_suite(SUITE, 1)
    assert core.read_text().strip() == "performance"
    ground.start_traffic(COMMON)
    stand_in.report(ok=True)
    assert agent.watch.wait(lambda: agent.recorder.window is not None, 20)
    ground.quiet()
    measured = ground.end_stop(ground.begin_stop(SUITE))
    assert measured["system"]["governor_pinned"] is True
    assert core.read_text().strip() == "schedutil"


def test_a_run_that_is_given_up_leaves_no_traffic_behind(bench, monkeypatch):
    agent, client, _stand_in = bench
    ground = RosGround(client, "/gcs/bench_agent", "one")
    assert ready(ground)
    for lost in ((), ("_traffic",), ("_stop",)):
        ground.start_suite(SUITE, 1)
        ground.start_traffic(COMMON)
        assert agent.recorder._traffic
        with monkeypatch.context() as patched:
            for name in lost:
                patched.setattr(getattr(ground, name), "begin", _raises)
            ground.abort(SUITE)
        assert agent.recorder._traffic == ("_stop" in lost), lost
    ground.abort(SUITE)
    assert not agent.recorder._traffic
    ground.abort(SUITE)  # nothing runs: the agent refuses, which is no error here


def test_a_run_whose_controller_was_killed_is_ended(bench, monkeypatch):
    agent, client, _stand_in = bench
    ground, other = (RosGround(client, "/gcs/bench_agent", name) for name in ("one", "two"))
    assert ready(ground)
    monkeypatch.setattr("pqc_mav_bench.controller_ends.KEEP_S", 0.01)
    ground.start_suite(SUITE, 1)
    ground.start_traffic(COMMON)
    with ground.kept():
        heard_s = agent._heard_s
        until(lambda: agent._heard_s > heard_s, "a word of the controller")
    assert agent.recorder._traffic
    monkeypatch.setattr("pqc_mav_bench.agent_node.LEASE_S", 0.0)
    until(lambda: not agent.recorder._traffic, "the end of the run")
    other.start_suite(SUITE, 1)


def _raises(*_arguments):
    raise TimeoutError


def test_refusals_have_a_reason(bench):
    _agent, client, _stand_in = bench
    nameless = RosGround(client, "/gcs/bench_agent", "")
    ground = RosGround(client, "/gcs/bench_agent", "one")
    assert ready(ground)
    with pytest.raises(BenchError, match="must give its identity"):
        nameless.start_suite(SUITE, 1)
    with pytest.raises(BenchError, match="announced 1001 handshakes; 1000 are possible"):
        ground.start_suite(SUITE, 1001)
    with pytest.raises(BenchError, match="workload"):
        ground.start_traffic({**COMMON, "workload": {"kind": "storm"}})
    with pytest.raises(BenchError, match="was not started here, but none"):
        ground.end_stop(ground.begin_stop(SUITE))


def test_an_agent_that_is_not_there_is_lost(bench, monkeypatch):
    _agent, client, _stand_in = bench
    monkeypatch.setattr("pqc_mav_bench.controller_ends.QUICK_S", 0.2)
    nobody = RosGround(client, "/gcs/nobody", "one")
    assert not nobody.ready()
    monkeypatch.setattr(nobody._clock, "begin", lambda _request: (_ for _ in ()).throw(TimeoutError("nobody")))
    with pytest.raises(AgentLostError, match="The agent is lost: nobody"):
        nobody.exchange()
    nobody.shutdown()
