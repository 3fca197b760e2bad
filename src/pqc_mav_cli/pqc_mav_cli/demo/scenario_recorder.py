# SPDX-License-Identifier: Apache-2.0
"""Listens to the drone during a scenario, and fills a `ScenarioTrace`."""

import math
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

NAN = math.nan
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
        make = node.create_subscription
        sensor, state = qos_profile_sensor_data, qos.latched(1)
        make(BatteryHealth, "/drone/battery", self._on_battery, sensor)
        make(ThermalState, "/drone/thermal", self._on_thermal, sensor)
        make(VehicleState, "/drone/vehicle", self._on_vehicle, sensor)
        make(TunnelStatus, f"{PROXY}/status", self._on_status, state)
        make(TunnelStats, f"{PROXY}/stats", self._on_stats, qos.periodic(1))
        make(LinkQuality, f"{PROXY}/link", self._on_link, qos.periodic(2))
        make(HandshakeReport, f"{PROXY}/handshake", self._on_handshake, qos.event())
        make(PolicyDecision, f"{POLICY}/decision", self._on_decision, state)
        make(ThreatReport, "/drone/threat", self._on_threat, qos.periodic(1))

    def begin(self) -> None:
        """The flight begins now."""
        with self._lock:
            self._began_s = time.monotonic()
            status = self._heard.get("status")
            if status is not None:
                self.trace.status.append(rows.StatusRow(0.0, status.suite, status.state))

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

    def _keep(self, name: str, message: Any) -> bool:
        """Remembers the message. Whether the flight has begun."""
        self._heard[name] = message
        return self._began_s is not None

    def _on_battery(self, message: BatteryHealth) -> None:
        with self._lock:
            if self._keep("battery", message):
                row = (message.voltage_v, message.state_of_charge, message.voltage_rate_mv_per_min)
                self.trace.battery.append(rows.BatteryRow(self._now(), *row))

    def _on_thermal(self, message: ThermalState) -> None:
        with self._lock:
            if self._keep("thermal", message):
                row = (message.temperature_c, message.rate_c_per_min, message.throttled, message.source)
                self.trace.thermal.append(rows.ThermalRow(self._now(), *row))

    def _on_vehicle(self, message: VehicleState) -> None:
        with self._lock:
            if self._keep("vehicle", message):
                row = (message.relative_altitude_m, message.armed, int(message.phase))
                self.trace.vehicle.append(rows.VehicleRow(self._now(), *row))

    def _on_status(self, message: TunnelStatus) -> None:
        with self._lock:
            if self._keep("status", message):
                self.trace.status.append(rows.StatusRow(self._now(), message.suite, message.state))

    def _on_link(self, message: LinkQuality) -> None:
        if message.side != "peer":
            return
        with self._lock:
            if self._keep("link", message):
                row = (message.loss, message.gap_p95_ms, message.packets_per_s, message.age_s)
                self.trace.link.append(rows.LinkRow(self._now(), *row))

    def _on_handshake(self, message: HandshakeReport) -> None:
        with self._lock:
            if message.rekey and self._began_s is not None:
                row = (message.ok, message.suite, int(message.epoch), message.handshake_ms, message.reason)
                self.trace.rekeys.append(rows.RekeyRow(self._now(), *row))

    def _on_decision(self, message: PolicyDecision) -> None:
        with self._lock:
            if self._keep("decision", message):
                self.trace.decisions.append(
                    rows.DecisionRow(
                        self._now(),
                        *(message.action, message.guard, message.reason, message.from_suite, message.to_suite),
                        *(int(message.to_rank), message.requested),
                    )
                )

    def _on_threat(self, message: ThreatReport) -> None:
        with self._lock:
            if self._keep("threat", message):
                row = (int(message.level), message.kind, message.response, message.reason)
                self.trace.threat.append(rows.ThreatRow(self._now(), *row))

    def _on_stats(self, message: TunnelStats) -> None:
        """Once a second."""
        refused = sum(int(getattr(message, f"drop_{reason}")) for reason in DROP_REASONS)
        with self._lock:
            rate = self._refused.update(time.monotonic(), refused)
            if self._began_s is not None:
                self.trace.refused.append(rows.RefusedRow(self._now(), rate))
