# SPDX-License-Identifier: Apache-2.0
"""The node inside ROS: counters in, ThreatReport and diagnostics out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces.msg import LinkQuality, ServerStats, ThreatReport, TunnelStatus
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Header

from pqc_mav_common import qos
from pqc_mav_common.lifecycle import bring_up
from pqc_mav_common.socket_table import own_network
from pqc_mav_detect.node import ELSEWHERE, FRESH_S, DetectNode

DEADLINE_S = 30.0
TURN_S = 0.05


class Bench:
    """The detector, and a proxy that says what it is told to."""

    def __init__(self, *parameters: str) -> None:
        self.context = Context()
        rclpy.init(args=[], context=self.context)
        arguments = ["--ros-args", "-r", "__ns:=/d7", *(word for each in parameters for word in ("-p", each))]
        self.node = DetectNode(context=self.context, cli_args=arguments, use_global_arguments=False)
        self.proxy = Node("pqc_proxy", namespace="/d7", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        for node in (self.node, self.proxy):
            self.executor.add_node(node)
        make = self.proxy.create_publisher
        self.counters = make(ServerStats, "~/server_stats", qos.sensor())
        self.status = make(TunnelStatus, "~/status", qos.latched(1))
        self.link = make(LinkQuality, "~/link", qos.periodic(1))
        self.reports: list[ThreatReport] = []
        self.diagnostics: list[DiagnosticArray] = []
        self.proxy.create_subscription(ThreatReport, "threat", self.reports.append, qos.periodic(1))
        self.proxy.create_subscription(DiagnosticArray, "/diagnostics", self.diagnostics.append, qos.diagnostics())
        self.stats = ServerStats(drone_ids=["d7"], opened=[0])
        bring_up(self.node)
        self.until(lambda: self.counters.get_subscription_count(), "the detector to listen")
        self.status.publish(TunnelStatus(state=TunnelStatus.UP, role="drone", drone_id="d7"))

    def until(self, condition: Any, what: str, **grown: int) -> None:
        """Counters that grow by so many in each turn, until the condition holds."""
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < deadline, f"not in time: {what}"
            for name, count in {"delivered": 20, **grown}.items():
                setattr(self.stats, name, getattr(self.stats, name) + count)
            self.stats.opened = [self.stats.delivered]
            self.counters.publish(self.stats)
            turn_ends = time.monotonic() + TURN_S
            while (left := turn_ends - time.monotonic()) > 0:
                self.executor.spin_once(left)

    def close(self) -> None:
        self.node.close()
        self.executor.shutdown()
        self.node.destroy_node()
        self.proxy.destroy_node()
        rclpy.try_shutdown(context=self.context)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()


def test_an_attack_is_reported_with_class_evidence_and_response_and_ends(bench: Bench) -> None:
    bench.until(lambda: bench.reports, "the first report")
    quiet = bench.reports[-1]
    assert (quiet.level, quiet.kind, quiet.source, quiet.first_seen.sec) == (ThreatReport.NONE, "", "rules", 0)
    bench.until(lambda: bench.reports[-1].level == ThreatReport.ATTACK, "the alarm", drop_auth_fail=5)
    alarm = bench.reports[-1]
    assert (alarm.kind, alarm.response) == ("forgery", "renew_keys")
    assert "do not verify" in alarm.evidence[0] and alarm.evidence[0] in alarm.reason
    assert 0 < alarm.first_seen.sec <= alarm.header.stamp.sec and 0.5 <= alarm.probability <= 1.0
    bench.until(lambda: bench.reports[-1].level == ThreatReport.NONE, "the end")

    def said() -> list[bytes]:
        return [
            each.level for array in bench.diagnostics for each in array.status if each.name == "d7/pqc_detect: attacks"
        ]

    bench.until(lambda: {b"\x00", b"\x01"} <= set(said()) and said()[-1] == b"\x00", "diagnostics of both")


def test_confidence_is_the_share_of_the_class_that_is_named_among_those_that_press() -> None:
    bench = Bench("watch_kernel:=false")

    def said() -> tuple[int, str, float]:
        newest = bench.reports[-1] if bench.reports else ThreatReport()
        return newest.level, newest.kind, newest.confidence

    try:
        bench.until(lambda: said() == (ThreatReport.ATTACK, "forgery", 1.0), "forgeries alone", drop_auth_fail=5)

        def shared() -> bool:
            return said()[0] == ThreatReport.ATTACK and 0.4 <= said()[2] < 1.0

        bench.until(shared, "two classes", drop_auth_fail=5, drop_replay=20)
        assert said()[1] in ("forgery", "replay")
    finally:
        bench.close()


def test_an_attack_elsewhere_makes_it_watchful(bench: Bench) -> None:
    """5 garbage datagrams/s for half a second are no attack, but where another end tells of one."""
    told = TunnelStatus(drone_id="d7", role="drone", state=TunnelStatus.UP, peer_alarm=ThreatReport.ATTACK)
    bench.status.publish(told)
    bench.until(lambda: bench.node._statuses.watchful, "the word")
    told.peer_alarm = ThreatReport.NONE
    bench.status.publish(told)
    bench.until(lambda: not bench.node._statuses.watchful, "the end of it")


def test_the_other_end_is_heard_through_the_link_report(bench: Bench) -> None:
    forged = 0

    def told() -> bool:
        nonlocal forged
        forged += 1
        link = LinkQuality(drone_id="d7", side="peer", drop_auth_fail=forged)
        bench.link.publish(link)
        return bool(bench.reports and bench.reports[-1].level == ThreatReport.ATTACK)

    bench.until(told, "the alarm")
    assert bench.reports[-1].kind == "forgery" and "at the other end" in bench.reports[-1].reason


def test_a_detector_without_counters_says_that_it_is_blind(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> None:
    monkeypatch.setattr("pqc_mav_detect.node.SILENT_S", 0.0)

    def blind() -> bool:
        found = [each for array in bench.diagnostics for each in array.status]
        return any("nothing can be seen" in each.message for each in found)

    bench.until(blind, "the warning")


def test_the_counters_of_another_network_namespace_are_not_compared_with_the_kernels(bench: Bench) -> None:
    def said() -> str:
        found = [each for array in bench.diagnostics for each in array.status if "attacks" in each.name]
        return found[-1].message if found else ""

    for space, apart in ((own_network(), False), ("net:[1]", True), ("", False)):
        bench.stats.header.frame_id = space
        bench.until(lambda apart=apart: said() and (ELSEWHERE in said()) is apart, f"a word of {space!r}")


def test_the_time_of_a_reading_is_its_stamp_unless_that_is_old(bench: Bench) -> None:
    def read_s(age_s: float) -> float:
        stamp = (bench.node.get_clock().now() - Duration(seconds=age_s)).to_msg()
        return time.monotonic() - bench.node._read_s(ServerStats(header=Header(stamp=stamp)))

    assert read_s(FRESH_S / 2) == pytest.approx(FRESH_S / 2, abs=FRESH_S / 4)
    assert read_s(3600.0) == pytest.approx(0.0, abs=FRESH_S / 4)
    assert read_s(-3600.0) == pytest.approx(0.0, abs=FRESH_S / 4)


def test_at_rest_it_judges_nothing_and_then_begins_anew(bench: Bench) -> None:
    bench.until(lambda: bench.reports and bench.reports[-1].level == ThreatReport.ATTACK, "alarm", drop_auth_fail=5)
    bench.node.trigger_deactivate()
    assert not bench.node.active
    bench.node.trigger_activate()
    assert bench.node._episodes.verdict.level == ThreatReport.NONE
    bench.node.trigger_deactivate()
    bench.node.trigger_cleanup()
    bench.until(lambda: bench.counters.get_subscription_count() == 0, "nobody to listen")
