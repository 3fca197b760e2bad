# SPDX-License-Identifier: Apache-2.0
"""The lifecycle node around the engine: parameters, topics, services.

configure -> the configuration is checked and the keys are read; activate -> sockets and threads;
deactivate -> sessions closed and keys wiped. The engine's event thread only queues; events are published from the
executor, what is periodic from a thread of its own. Packets never come here.
"""

from __future__ import annotations

import json
import os
import queue
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces.msg import HandshakeReport, LinkQuality, ServerStats, SuiteInfo, TunnelStats, TunnelStatus
from pqc_mav_interfaces.srv import GetInfo, ListSuites
from std_msgs.msg import Header

from pqc_mav_common import config_file, qos
from pqc_mav_common.diagnostics import to_messages
from pqc_mav_common.errors import ProcessError, one_line
from pqc_mav_common.host_info import host_info
from pqc_mav_common.lifecycle import ManagedNode
from pqc_mav_common.parameters import AUTOSTART, given_parameters, plain_values
from pqc_mav_proxy import parameters
from pqc_mav_proxy.attempts import Attempts
from pqc_mav_proxy.conversions import message_of, removed_message
from pqc_mav_proxy.diagnostics import Diagnoser
from pqc_mav_proxy.engine_host import EngineHost
from pqc_mav_proxy.errors import exit_code_for
from pqc_mav_proxy.guard import Guard, dangers, sockets_of
from pqc_mav_proxy.leaving import Leaving
from pqc_mav_proxy.mavros_graph import writers
from pqc_mav_proxy.rekey_server import RekeyServer
from pqc_mav_proxy.repeater import Repeater
from pqc_mav_proxy.wording import plain_ports, short_code

NODE_NAME = "pqc_proxy"
TICK_S = 1.0
SERVER_TICK_S = 0.1
# Fields whose change makes the latched status stale; the ages among the others grow all the time.
STATUS_IDENTITY = (
    *("state", "suite", "epoch", "session_id", "peer", "plain_local", "plain_peer", "last_error"),
    *("shape_kbit", "station", "station_role", "term", "stations"),
)


class PqcProxyNode(ManagedNode):
    """Hosts one engine, as drone or gcs; namespace `/drone` or `/gcs` by convention."""

    refusals = (ProcessError, pqc_mav_tunnel.TunnelError)
    at_rest = "the sessions are closed and their keys are wiped; nothing passes until it is activated again"

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__(NODE_NAME, **node_arguments)
        of_all = sys.argv if node_arguments.get("use_global_arguments", True) else []
        self._command_line = [*of_all, *(node_arguments.get("cli_args") or [])]
        self._given = self._read = given_parameters(self)
        self._config = parameters.engine_config(self._given, _expanded)
        self._declare_parameters(self._given)
        self._host: EngineHost | None = None
        self._events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._events_ready = self.create_guard_condition(self._handle_events)
        self._hardware_id = socket.gethostname()
        self._diagnoser = Diagnoser(self.role)
        self._guard = Guard(os.environ, self.context.get_domain_id(), self.get_logger().error, lambda: writers(self))
        self._publishing = threading.Lock()  # of the status
        self._published: list[tuple[Any, ...]] = []
        self._served: list[str] = []  # the drones that the topics have room for
        self._attempts = Attempts()
        self._make_interfaces()
        self._ticks = Repeater(TICK_S, self._publish_periodic, self._unexpected)
        self._detectors = Repeater(SERVER_TICK_S, self._publish_server, self._unexpected)

    @property
    def role(self) -> str:
        """'drone' or 'gcs'."""
        return str(self.get_parameter(parameters.ROLE).value)

    def _declare_parameters(self, given: dict[str, Any]) -> None:
        autostart = AUTOSTART.check(self.get_name(), given.get(AUTOSTART.name, AUTOSTART.default))
        role = self._config.get(parameters.ROLE)
        role = role if role in parameters.ROLES else parameters.ROLES[0]
        wanted = parameters.specs(role, pqc_mav_tunnel.config_schema(role))
        if role == "gcs":
            drones = self._config.get(parameters.DRONES, [])
            ids = [str(drone) for drone in drones] if isinstance(drones, list) else []
            wanted += parameters.drone_specs(ids, pqc_mav_tunnel.per_drone_schema())
        fixed = [spec.name for spec in wanted if spec.name.rpartition(".")[2] in parameters.FIXED]
        values = {spec.name: parameters.shown(spec, self._config) for spec in wanted}
        self.declare_settable([AUTOSTART, *wanted], {**values, AUTOSTART.name: autostart}, fixed)

    def _make_interfaces(self) -> None:
        self._served = list(self._config.get(parameters.DRONES) or []) if self.role == "gcs" else []
        drones = max(1, len(self._served))
        self._status = self.create_lifecycle_publisher(TunnelStatus, "~/status", qos.latched(drones))
        self._leaving = Leaving(self)
        self._stats = self.create_lifecycle_publisher(TunnelStats, "~/stats", qos.periodic(drones))
        self._link = self.create_lifecycle_publisher(LinkQuality, "~/link", qos.periodic(2 * drones))
        self._server = self.create_lifecycle_publisher(ServerStats, "~/server_stats", qos.sensor())
        self._handshake = self.create_lifecycle_publisher(HandshakeReport, "~/handshake", qos.event())
        self._diagnostics = self.create_lifecycle_publisher(DiagnosticArray, "/diagnostics", qos.diagnostics())
        self.create_service(ListSuites, "~/list_suites", self._list_suites)
        self.create_service(GetInfo, "~/get_info", self._get_info)
        self._rekeys = RekeyServer(self, self._running_engine)

    # --- configuration, read again while the engine runs ---

    def asked_parameters(self) -> dict[str, Any]:
        """What the files and the command line said when they were last read, and what was set since the start."""
        return {**self._given, **self._settable.changed}

    def reload(self) -> None:
        """Reads configuration and keys again, as `pqcmav reload` does; what came of it is in the log."""
        engine = self._running_engine()
        if engine is None:
            self.get_logger().warning("Not reloaded: the node is not active; it reads everything when it is activated.")
            return
        try:
            engine.reload()
        except pqc_mav_tunnel.TunnelError as error:
            self._log("error", f"Not reloaded: {error}")

    def _read_again(self) -> dict[str, Any]:
        self._read = plain_values(config_file.given_by(self._command_line, self.get_namespace(), self.get_name()))
        # What was set and counts already is no news.
        changed = {name: value for name, value in self._settable.changed.items() if name not in parameters.LIVE}
        return parameters.engine_config({**self._read, **changed}, _expanded)

    def _taken(self) -> None:
        self._given = self._read
        self._config = parameters.engine_config(self.asked_parameters(), _expanded)

    # --- lifecycle ---

    def read_parameters(self) -> None:
        """The engine judges all of them, together with what was set since the start."""
        self._config = parameters.engine_config(self.asked_parameters(), _expanded)

    def take_live(self, name: str, value: Any) -> bool:
        """`shape_kbit` and `station` count at once in an engine that runs."""
        host = self._host
        if host is None or not host.started:
            return False
        if name == parameters.SHAPE_KBIT:
            return bool(host.engine.set_shape_kbit(value))
        if name != parameters.STATION:
            return False
        try:
            return bool(host.engine.use_station(value))
        except pqc_mav_tunnel.TunnelError as error:
            self._log("error", str(error))
            return False

    def set_up(self) -> None:
        """Checks the configuration and reads the keys."""
        files = config_file.named_files(self._command_line)
        source = (self._read_again, self._taken, files) if files else None
        self._host = EngineHost(pqc_mav_tunnel.Engine, self._config, self._queue_events, source)

    def begin(self) -> None:
        """Starts the engine; a fresh one after a deactivation, which wiped the keys of the last."""
        self._start_host()
        self._publish_status(force=True)
        self._events_ready.trigger()  # for the events from before the topics were open
        self._ticks.start()

    def end(self) -> None:
        """Stops the engine, wipes its keys and publishes the last status."""
        self._ticks.stop()  # first: it starts and stops the other
        self._detectors.stop()
        host, self._host = self._host, None
        if host is None:
            return
        host.stop()
        self._handle_events()
        if host.started:
            self._publish_status(force=True, statuses=host.engine.picture("status"))

    def refused(self, error: Exception) -> ProcessError:
        """The engine's errors have exit codes of their own."""
        if isinstance(error, pqc_mav_tunnel.TunnelError):
            return ProcessError(one_line(error), exit_code_for(error.code))
        return super().refused(error)

    def destroy_node(self) -> None:
        """Frees the node, so that it leaves the ROS graph at once."""
        # rclpy does not free actions, which hold the node. Kilted also destroys a node whose making failed.
        if hasattr(self, "_rekeys"):
            self._rekeys.close()
        super().destroy_node()

    def _start_host(self) -> None:
        if self._host is None:
            self.set_up()
        assert self._host is not None
        self._host.start()
        ports = self._host.engine.ports()
        statuses = self._host.engine.status()
        peers = {status["drone_id"]: status["plain_peer"] for status in statuses}
        # One that is not a UDP socket has no port, but a name.
        places = {status["drone_id"]: status["plain_local"] for status in statuses}
        plain = plain_ports({drone: port or places[drone] for drone, port in ports["plain"].items()}, peers)
        self.get_logger().info(f"{self.role}: handshakes and packets on UDP port {ports['data']}, plaintext on {plain}")

    # --- engine events ---

    def _queue_events(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            self._events.put(event)
        self._events_ready.trigger()

    def _handle_events(self) -> None:
        if not self._handshake.is_activated:
            return  # a quick handshake may end before the activation does: its report waits
        changed = False
        while True:
            try:
                event = self._events.get_nowait()
            except queue.Empty:
                break
            kind = event["type"]
            self._rekeys.on_event(event)
            if kind == "log":
                self._log(event["level"], event["text"])
            elif kind == "state":
                changed = True
                reason = f" ({event['reason']})" if event["reason"] else ""
                if self._attempts.changed(event["drone_id"], event["old"], event["new"]):
                    self.get_logger().info(f"{event['drone_id']}: {event['old']} -> {event['new']}{reason}")
            elif kind == "handshake":
                changed = True
                self._publish_handshake(event)
        if changed:
            self._publish_status(force=True)

    def _log(self, level: str, text: str) -> None:
        # One line for each level: rclpy raises when the same line of a program logs with another severity.
        if level == "error":
            self.get_logger().error(one_line(text))
        elif level == "warning":
            if self._attempts.warned(text, time.monotonic()):
                self.get_logger().warning(one_line(text))
        else:
            self.get_logger().info(one_line(text))

    def _publish_handshake(self, event: dict[str, Any]) -> None:
        kind = event["kind"] if event["rekey"] else "handshake"
        if event["ok"]:
            self.get_logger().info(
                f"{event['drone_id']}: {kind} with {event['peer']} took {event['handshake_ms']:.1f} ms, "
                f"{short_code(event['suite'])}{'' if event['hybrid'] else ' (pure)'}, epoch {event['epoch']}"
            )
            self._attempts.connected(event["drone_id"])
        elif event["rekey"] or self._attempts.failed(event["drone_id"], event["reason"], time.monotonic()):
            self.get_logger().warning(f"{event['drone_id']}: {kind} failed: {one_line(event['reason'])}")
        self._handshake.publish(message_of(HandshakeReport, event, self._header()))

    # --- topics ---

    def _header(self) -> Header:
        return Header(stamp=self.get_clock().now().to_msg())

    def _publish_status(self, *, force: bool = False, statuses: list[dict[str, Any]] | None = None) -> None:
        """All drones' statuses, when one of them changed: a late subscriber then has the whole latched set."""
        with self._publishing:  # asked for inside, so that an older one never follows a newer one
            if statuses is None:
                if self._host is None or not self._host.started:
                    return
                statuses = self._host.engine.picture("status")
            identity = [tuple(status[field] for field in STATUS_IDENTITY) for status in statuses]
            if not force and identity == self._published:
                return
            self._published = identity
            header = self._header()
            for status in statuses:
                self._status.publish(message_of(TunnelStatus, status, header))

    def _make_room(self, drones: list[str]) -> None:
        """After drones have come or gone: a late subscriber gets one status of each drone there is, and no other."""
        if self.role != "gcs" or set(drones) == set(self._served):
            return
        with self._publishing:
            gone = [drone for drone in self._served if drone not in drones]
            for drone in gone:
                self._status.publish(removed_message(drone, self.role, self._header()))
            self._served, self._published = drones, []
            count = len(drones)
            old = self._status
            self._status = self.another_publisher(old, TunnelStatus, "~/status", qos.latched(count))
            if gone:
                self._leaving.add(old)
            else:
                self.destroy_lifecycle_publisher(old)
            self._stats = self.replace_publisher(self._stats, TunnelStats, "~/stats", qos.periodic(count))
            self._link = self.replace_publisher(self._link, LinkQuality, "~/link", qos.periodic(2 * count))

    def _publish_periodic(self) -> None:
        host = self._host
        if host is None or not host.started or not self._stats.is_activated:
            return
        self._serve_detectors()
        now_s = time.monotonic()
        header = self._header()
        statuses, stats, links = map(host.engine.picture, ("status", "stats", "link"))
        links_of = {link[0]["drone_id"]: link[0] for link in links}
        counted = {entry["drone_id"]: entry for entry in stats}  # drones come and go between two questions
        if self._leaving.look():
            self._published = []  # who came meanwhile may have heard older statuses after newer ones
        self._make_room([status["drone_id"] for status in statuses])
        self._publish_status()
        for entry in stats:
            self._stats.publish(message_of(TunnelStats, entry, header))
        for link in links:
            for side in link:
                self._link.publish(message_of(LinkQuality, side, header))
        reports = [
            self._diagnoser.tunnel(status, counted[drone], links_of.get(drone))
            for status in statuses
            if (drone := status["drone_id"]) in counted
        ]
        totals = host.engine.totals()
        reports.append(self._diagnoser.data_port(totals))
        if self.role == "gcs":
            reports.append(self._diagnoser.handshake_server(totals))
        guarded = self._guard.diagnostics(now_s, lambda: {os.getpid(): sockets_of(host.engine.open_sockets())})
        host.engine.set_dangers(dangers(guarded))
        reports += guarded
        # The namespace tells the two ends apart.
        messages = to_messages(self.get_fully_qualified_name().strip("/"), self._hardware_id, reports)
        self._diagnostics.publish(DiagnosticArray(header=header, status=messages))

    def _serve_detectors(self) -> None:
        """`~/server_stats` flows only while somebody listens."""
        listened = self._server.get_subscription_count() > 0
        if listened is self._detectors.running:
            return
        (self._detectors.start if listened else self._detectors.stop)()
        said = "flows: somebody listens" if listened else "rests: nobody listens"
        self.get_logger().debug(f"~/server_stats {said}")

    def _publish_server(self) -> None:
        host = self._host
        if host is None or not host.started or not self._server.is_activated:
            return
        self._server.publish(message_of(ServerStats, host.engine.picture("server"), self._header()))

    def _unexpected(self, error: Exception) -> None:
        self.get_logger().error(f"unexpected: {type(error).__name__}: {one_line(error)}")

    # --- services ---

    def _running_engine(self) -> Any:
        host = self._host
        return host.engine if host is not None and host.started else None

    def _list_suites(self, request: ListSuites.Request, response: ListSuites.Response) -> ListSuites.Response:
        try:
            found = pqc_mav_tunnel.suites(view=request.view or "core", only_available=request.only_available)
        except (pqc_mav_tunnel.TunnelError, ValueError) as error:
            response.message = one_line(error)
            return response
        response.ok = True
        response.suites = [message_of(SuiteInfo, suite.as_dict()) for suite in found]
        return response

    def _get_info(self, _request: GetInfo.Request, response: GetInfo.Response) -> GetInfo.Response:
        for field, value in host_info().items():
            setattr(response, field, value)
        response.engine_version = pqc_mav_tunnel.engine_version()
        response.liboqs_version = pqc_mav_tunnel.liboqs_version()
        response.openssl_version = pqc_mav_tunnel.openssl_version()
        response.role = self.role
        host = self._host
        response.config_json = json.dumps(host.engine.config() if host else self._config, sort_keys=True)
        return response


def _expanded(path: str) -> str:
    return str(Path(path).expanduser())
