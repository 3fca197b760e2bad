# SPDX-License-Identifier: Apache-2.0
"""A drone's other nodes for the tests of the policy node: sensing and a proxy that answers as it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from messages import GOOD
from pqc_mav_interfaces.msg import (
    BatteryHealth,
    HandshakeReport,
    LinkQuality,
    PolicyDecision,
    SuiteInfo,
    SystemLoad,
    ThermalState,
    ThreatReport,
    TunnelStatus,
    VehicleState,
)
from pqc_mav_interfaces.srv import GetInfo, ListSuites, PinSuite, Rekey, SetMode
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from std_msgs.msg import Header

from pqc_mav_common import qos
from pqc_mav_common.executors import Spun
from pqc_mav_common.key_values import to_key_values
from pqc_mav_common.testing import until
from pqc_mav_proxy.conversions import message_of

DEADLINE_S = 30.0
DEFAULT = GOOD["status"]["suite"]
SENSING: dict[str, tuple[Any, str]] = {
    "battery": (BatteryHealth, "battery"),
    "thermal": (ThermalState, "thermal"),
    "vehicle": (VehicleState, "vehicle"),
    "system": (SystemLoad, "system"),
    "threat": (ThreatReport, "threat"),
    "link": (LinkQuality, "pqc_proxy/link"),
}


class FakeDrone:
    """Publishes telemetry at 5 Hz and answers rekeys: at once, never (`stuck`), or with a failure (`failing`)."""

    def __init__(self, namespace: str, keys: Path, configured: str) -> None:
        self.node = rclpy.create_node("pqc_proxy", namespace=namespace)
        self.changes: dict[str, dict[str, Any]] = {}
        self.silent: set[str] = set()
        self.suite, self.epoch, self.state = DEFAULT, 0, 2
        self.blacklisted: list[str] = []
        self.configured = configured
        self.asked: list[tuple[str, str]] = []
        self.kinds: list[str] = []  # of what was asked
        self.ratchets, self.ratchet_for_s = 0, 0.0
        self.failing = False
        self.shape_kbit = 0  # what the status says
        self.round_trip_ms = 20.0  # the least one is 20 ms
        self.free = threading.Event()
        self.free.set()
        self.decisions: list[PolicyDecision] = []
        self.diagnostics: list[Any] = []
        self._keys = keys
        make = self.node.create_publisher
        self._publishers = {name: make(kind, topic, 5) for name, (kind, topic) in SENSING.items()}
        self._status = make(TunnelStatus, "pqc_proxy/status", qos.latched(1))
        self._handshake = make(HandshakeReport, "pqc_proxy/handshake", qos.event())
        group = ReentrantCallbackGroup()
        self.node.create_service(Rekey, "pqc_proxy/rekey", self._rekey, callback_group=group)
        self.node.create_service(ListSuites, "pqc_proxy/list_suites", self._list)
        self.node.create_service(GetInfo, "pqc_proxy/get_info", self._info)
        self.node.create_subscription(PolicyDecision, "pqc_policy/decision", self.decisions.append, qos.latched(1))
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._set_mode = self.node.create_client(SetMode, "pqc_policy/set_mode")
        self._pin_suite = self.node.create_client(PinSuite, "pqc_policy/pin_suite")
        self.node.create_timer(0.2, self._publish, callback_group=group)
        self.publish_status()
        self._executor = Spun(MultiThreadedExecutor(3))
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin)
        self._thread.start()

    def close(self) -> None:
        self.free.set()
        self._executor.shutdown()
        self._thread.join()
        self.node.destroy_node()

    def decided(self, condition: Callable[[PolicyDecision], bool], what: str) -> PolicyDecision:
        """The first decision made from now on for which the condition holds."""
        start = len(self.decisions)
        found: PolicyDecision = until(lambda: next(filter(condition, self.decisions[start:]), None), what)
        return found

    def set_mode(self, mode: str) -> Any:
        return self._call(self._set_mode, SetMode.Request(mode=mode))

    def pin(self, suite: str) -> Any:
        return self._call(self._pin_suite, PinSuite.Request(suite=suite))

    def publish_status(self) -> None:
        self._status.publish(
            TunnelStatus(
                header=self._header(),
                state=self.state,
                role="drone",
                drone_id="d1",
                suite=self.suite,
                epoch=self.epoch,
                key_age_s=100.0,
                blacklisted_suites=self.blacklisted,
                ratchets=self.ratchets,
                ratchet_for_s=self.ratchet_for_s,
                shape_kbit=self.shape_kbit,
            )
        )

    def _header(self) -> Header:
        return Header(stamp=self.node.get_clock().now().to_msg())

    def _publish(self) -> None:
        for name, (kind, _) in SENSING.items():
            if name not in self.silent:
                values = {**GOOD[name], **self.changes.get(name, {})}
                self._publishers[name].publish(kind(header=self._header(), **values))
        own = LinkQuality(header=self._header(), side="local", rtt_ms=self.round_trip_ms, rtt_min_ms=20.0)
        self._publishers["link"].publish(own)

    def _rekey(self, request: Rekey.Request, result: Rekey.Response) -> Rekey.Response:
        self.asked.append((request.suite, request.reason))
        self.kinds.append(request.kind)
        self.free.wait(DEADLINE_S)
        kind = request.kind or "rekey"
        report = HandshakeReport(header=self._header(), drone_id="d1", suite=request.suite, rekey=True, kind=kind)
        if self.failing:
            result.message = "The gcs did not answer."
            report.error = "timeout"
        else:
            self.suite, self.epoch = request.suite or self.suite, self.epoch + 1
            self.ratchets = self.ratchets + 1 if kind == "ratchet" else 0
            result.ok, result.suite, result.epoch = True, self.suite, self.epoch
            result.message = f"Rekeyed to {pqc_mav_tunnel.find_suite(self.suite).short_code}."
            report.ok, report.handshake_ms = True, 25.0
        self._handshake.publish(report)
        # a ratchet of the proxy's own beside it: what it took, or that it failed, is not what was asked for
        beside = HandshakeReport(header=self._header(), drone_id="d1", suite=self.suite, rekey=True, kind="ratchet")
        beside.error = "timeout"
        self._handshake.publish(beside)
        if result.ok:
            self.publish_status()
        return result

    def _list(self, _request: ListSuites.Request, response: ListSuites.Response) -> ListSuites.Response:
        response.suites = [message_of(SuiteInfo, suite.as_dict()) for suite in pqc_mav_tunnel.suites(view="core")]
        response.ok = True
        return response

    def _info(self, _request: GetInfo.Request, response: GetInfo.Response) -> GetInfo.Response:
        response.config = to_key_values({"keys": str(self._keys), "suite": self.configured})
        return response

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self.diagnostics += [status for status in message.status if status.name == "pqc_policy: decision"]

    def _call(self, client: Any, request: Any) -> Any:
        assert client.wait_for_service(DEADLINE_S)
        future = client.call_async(request)
        until(future.done, "an answer")
        return future.result()
