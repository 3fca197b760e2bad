# SPDX-License-Identifier: Apache-2.0
"""Listens to the drone during a scenario, and fills a `ScenarioTrace`."""

import threading
import time
from typing import Any

from pqc_mav_interfaces.msg import (
    BatteryHealth,
    HandshakeReport,
    LinkQuality,
    PolicyDecision,
    ThermalState,
    ThreatReport,
    TunnelStats,
    TunnelStatus,
    VehicleState,
)
from rclpy.qos import qos_profile_sensor_data

from pqc_mav_cli.demo import scenario_trace as rows
from pqc_mav_cli.demo.scenario_trace import RefusedMeter, ScenarioTrace
from pqc_mav_common import qos
from pqc_mav_proxy.names import DROP_REASONS

PROXY, POLICY = "/drone/pqc_proxy", "/drone/pqc_policy"


class ScenarioRecorder:
    """Rows get times of flight once `begin` was called; what came before is left out."""

    def __init__(self, node: Any) -> None:
        self.trace = ScenarioTrace()
        self._node = node
        self._lock = threading.Lock()
        self._began_s: float | None = None
        self._refused = RefusedMeter()
        self._heard: dict[str, Any] = {}
        sensor, state, trace = qos_profile_sensor_data, qos.latched(1), self.trace
        self._keep("battery", trace.battery, rows.BatteryRow, BatteryHealth, "/drone/battery", sensor)
        self._keep("thermal", trace.thermal, rows.ThermalRow, ThermalState, "/drone/thermal", sensor)
        self._keep("vehicle", trace.vehicle, rows.VehicleRow, VehicleState, "/drone/vehicle", sensor)
        self._keep("status", trace.status, rows.StatusRow, TunnelStatus, f"{PROXY}/status", state)
        self._keep("link", trace.link, rows.LinkRow, LinkQuality, f"{PROXY}/link", qos.periodic(2))
        self._keep("rekey", trace.rekeys, rows.RekeyRow, HandshakeReport, f"{PROXY}/handshake", qos.event())
        self._keep("decision", trace.decisions, rows.DecisionRow, PolicyDecision, f"{POLICY}/decision", state)
        self._keep("threat", trace.threat, rows.ThreatRow, ThreatReport, "/drone/threat", qos.periodic(1))
        node.create_subscription(TunnelStats, f"{PROXY}/stats", self._on_stats, qos.periodic(1))

    def begin(self) -> None:
        """The flight begins now."""
        with self._lock:
            self._began_s = time.monotonic()
            status = self._heard.get("status")
            if status is not None:
                self.trace.status.append(rows.row_of(rows.StatusRow, 0.0, status))

    def ready(self) -> bool:
        """Whether senses, policy, detector and proxy have all been heard."""
        with self._lock:
            return {"battery", "thermal", "decision", "status", "threat"} <= set(self._heard)

    def event(self, text: str) -> None:
        """Something was done to the vehicle."""
        with self._lock:
            if self._began_s is not None:
                self.trace.events.append((self._now(), text))

    def newest(self, name: str) -> Any:
        """The newest message: battery, thermal, vehicle, link, status or decision; None before the first."""
        with self._lock:
            return self._heard.get(name)

    def _now(self) -> float:
        assert self._began_s is not None
        return time.monotonic() - self._began_s

    def _keep(self, name: str, kept: list[Any], row: Any, kind: Any, topic: str, profile: Any) -> None:
        """Listens to a topic: the newest message as `name`, and in flight a row of each in `kept`."""

        def take(message: Any) -> None:
            if getattr(message, "side", "peer") != "peer" or not getattr(message, "rekey", True):
                return  # what the drone itself hears of the link, and its first handshake
            with self._lock:
                self._heard[name] = message
                if self._began_s is not None:
                    kept.append(rows.row_of(row, self._now(), message))

        self._node.create_subscription(kind, topic, take, profile)

    def _on_stats(self, message: TunnelStats) -> None:
        """Once a second."""
        refused = sum(int(getattr(message, f"drop_{reason}")) for reason in DROP_REASONS)
        with self._lock:
            rate = self._refused.update(time.monotonic(), refused)
            if self._began_s is not None:
                self.trace.refused.append(rows.RefusedRow(self._now(), rate))
