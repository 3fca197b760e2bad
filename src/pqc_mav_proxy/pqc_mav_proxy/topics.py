# SPDX-License-Identifier: Apache-2.0
"""What the proxy node publishes of its engine, and where each message goes."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces.msg import (
    HandshakeReport,
    LinkQuality,
    PathStatus,
    ServerStats,
    ThreatReport,
    TunnelStats,
    TunnelStatus,
)
from rclpy.time import Time
from std_msgs.msg import Header

from pqc_mav_common import qos
from pqc_mav_common.diagnostics import Diagnostic, Level, to_messages
from pqc_mav_common.local_socket import ControlError
from pqc_mav_proxy.conversions import message_of
from pqc_mav_proxy.daemon_host import DaemonHost
from pqc_mav_proxy.engine_host import EngineHost
from pqc_mav_proxy.guard import Guard, Listed, dangers, sockets_of, told
from pqc_mav_proxy.leaving import Leaving
from pqc_mav_proxy.mavros_graph import writers
from pqc_mav_proxy.names import removed

LATE_S = 5.0  # within which an engine answers
THREAT_S = 3.0  # a detector that has said nothing for so long says nothing
OLD_S = 1.0  # an event that is older was told when this node was not there
# Fields whose change makes the latched status stale; the ages among the others grow all the time.
STATUS_IDENTITY = (
    *("state", "suite", "epoch", "session_id", "peer", "plain_local", "plain_peer", "last_error"),
    *("shape_kbit", "station", "station_role", "term", "stations", "blacklisted_suites"),
    *("peer_alarm", "peer_alarm_kind"),
)
Statuses = list[dict[str, Any]]


class ProxyTopics:
    """The topics of `node`, which is a managed one; they are there once they were offered. Any thread may publish."""

    def __init__(self, node: Any) -> None:
        self._node = node
        self._hardware_id = socket.gethostname()
        self._guard = Guard(os.environ, node.context.get_domain_id(), node.get_logger().error, lambda: writers(node))
        self._publishing = threading.Lock()  # of the status
        self._threat: tuple[float, ThreatReport] | None = None  # of this end's detector, and when it came

    def offer(self, drones: Iterable[str]) -> None:
        """Makes them, with room for the `drones` that a gcs serves; of a drone itself none are given."""
        node = self._node
        self._published: list[tuple[Any, ...]] = []
        self._served = list(drones)
        self._told = set(self._served)  # and those whose status was published since
        count = max(1, len(self._served))
        self._status = node.create_lifecycle_publisher(TunnelStatus, "~/status", qos.latched(count))
        self._leaving = Leaving(node)
        self._stats = node.create_lifecycle_publisher(TunnelStats, "~/stats", qos.periodic(count))
        self._link = node.create_lifecycle_publisher(LinkQuality, "~/link", qos.periodic(2 * count))
        self._paths = node.create_lifecycle_publisher(PathStatus, "~/paths", qos.periodic(count))
        self._server = node.create_lifecycle_publisher(ServerStats, "~/server_stats", qos.sensor())
        self._handshake = node.create_lifecycle_publisher(HandshakeReport, "~/handshake", qos.event())
        self._diagnostics = node.create_lifecycle_publisher(DiagnosticArray, "/diagnostics", qos.diagnostics())
        node.create_subscription(ThreatReport, "threat", self._on_threat, qos.periodic(1))

    def _on_threat(self, message: ThreatReport) -> None:
        self._threat = (time.monotonic(), message)

    @property
    def open(self) -> bool:
        """Whether what is published goes out."""
        return bool(self._handshake.is_activated)

    @property
    def detector_listens(self) -> bool:
        """Whether somebody has subscribed to `~/server_stats`."""
        return bool(self._server.get_subscription_count() > 0)

    def publish_status(self, host: EngineHost | DaemonHost, *, force: bool = False) -> None:
        """All drones' statuses, when one of them changed: a late subscriber then has the whole latched set."""
        with self._publishing:  # asked for inside, so that an older one never follows a newer one
            self._publish_statuses(host.ask("picture", of="status")["status"], force=force)

    def publish_last(self, statuses: Statuses) -> None:
        """The statuses that an engine ended with."""
        with self._publishing:
            self._publish_statuses(statuses, force=True)

    def publish_lost(self, why: str, drone_id: str) -> None:
        """The tunnel is DOWN as far as anybody can say; `drone_id` is that of a node on a drone."""
        with self._publishing:
            if not self._status.is_activated:
                return
            role = self._node.role
            drones = self._served if role == "gcs" else [drone_id]
            header = self._header()
            if self._published != [(why,)]:
                self._published = [(why,)]
                for drone in drones:
                    lost = {"drone_id": drone, "role": role, "last_error": why}
                    self._status.publish(message_of(TunnelStatus, lost, header))
            self._publish_diagnosis([Diagnostic(f"tunnel {drone}", Level.ERROR, why, {}) for drone in drones], header)

    def publish_picture(self, host: EngineHost | DaemonHost) -> None:
        """What is due periodically: counters, links, diagnostics, and statuses that changed. Raises ControlError."""
        now_s = time.monotonic()
        header = self._header()
        picture = host.ask("picture")
        if self._leaving.look():
            self._published = []  # who came meanwhile may have heard older statuses after newer ones
        self._make_room([status["drone_id"] for status in picture["status"]])
        self.publish_status(host)
        for entry in picture["stats"]:
            self._stats.publish(message_of(TunnelStats, entry, header))
        for status in picture["status"]:
            for path in status["paths"]:
                self._paths.publish(message_of(PathStatus, path, header))
        for link in picture["link"]:
            for side in link:
                self._link.publish(message_of(LinkQuality, side, header))

        def listed() -> Listed:
            return {host.process: sockets_of(host.ask("sockets")["sockets"])}

        guarded = self._guard.diagnostics(now_s, listed, host.network)
        with suppress(ControlError):  # a daemon of another user takes none
            host.ask("dangers", lines=told(dangers(guarded)))
            if self._threat and now_s - self._threat[0] < THREAT_S:
                host.ask("alarm", level=self._threat[1].level, kind=self._threat[1].kind)
        found = [
            Diagnostic(it["name"], Level(it["level"]), it["message"], {v["key"]: v["value"] for v in it["values"]})
            for it in host.ask("diagnosis")["status"]
        ]
        self._publish_diagnosis([*found, *guarded], header)

    def publish_server(self, host: EngineHost | DaemonHost) -> None:
        """The counters that detectors hear, stamped with when they were read. Raises ControlError."""
        if not self._server.is_activated:
            return
        answer = host.ask("server_stats")
        age_s = (time.monotonic_ns() - answer["monotonic_ns"]) / 1e9
        header = self._header(age_s if age_s <= LATE_S else 0.0)  # another time namespace has another clock
        header.frame_id = host.network
        self._server.publish(message_of(ServerStats, answer["server"], header))

    def publish_handshake(self, picture: dict[str, Any], at_s: float) -> None:
        """A handshake that ended at `at_s`, in seconds of the Unix epoch."""
        age_s = time.time() - at_s
        header = self._header(age_s if age_s > OLD_S else 0.0)
        self._handshake.publish(message_of(HandshakeReport, picture, header))

    def _header(self, age_s: float = 0.0) -> Header:
        now = self._node.get_clock().now()
        if age_s > 0:
            now = Time(nanoseconds=max(0, now.nanoseconds - int(age_s * 1e9)), clock_type=now.clock_type)
        return Header(stamp=now.to_msg())

    def _publish_statuses(self, statuses: Statuses, *, force: bool) -> None:
        identity = [tuple(status[field] for field in STATUS_IDENTITY) for status in statuses]
        if not force and identity == self._published:
            return
        self._published = identity
        self._told.update(status["drone_id"] for status in statuses)
        header = self._header()
        for status in statuses:
            self._status.publish(message_of(TunnelStatus, status, header))

    def _publish_diagnosis(self, found: list[Diagnostic], header: Header) -> None:
        node = self._node.get_fully_qualified_name().strip("/")  # the namespace tells the two ends apart
        messages = to_messages(node, self._hardware_id, found)
        self._diagnostics.publish(DiagnosticArray(header=header, status=messages))

    def _make_room(self, drones: list[str]) -> None:
        """After drones have come or gone: a late subscriber gets one status of each drone there is, and no other."""
        node = self._node
        if node.role != "gcs":
            return
        with self._publishing:
            gone = self._told.difference(drones)  # a drone may have come and gone between two looks
            if not gone and set(drones) == set(self._served):
                return
            for drone in gone:
                self._status.publish(message_of(TunnelStatus, removed(drone, node.role), self._header()))
            self._served, self._told, self._published = drones, set(drones), []
            count = len(drones)
            old = self._status
            self._status = node.another_publisher(old, TunnelStatus, "~/status", qos.latched(count))
            if gone:
                self._leaving.add(old)
            else:
                node.destroy_lifecycle_publisher(old)
            self._stats = node.replace_publisher(self._stats, TunnelStats, "~/stats", qos.periodic(count))
            self._link = node.replace_publisher(self._link, LinkQuality, "~/link", qos.periodic(2 * count))
