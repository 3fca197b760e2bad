# SPDX-License-Identifier: Apache-2.0
"""A short-lived ROS node for a command, and what it has heard of the proxies."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pqc_mav_cli import own_stdout
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_common.errors import one_line
from pqc_mav_common.executors import Spun
from pqc_mav_common.ros_log import KEEP_NONE
from pqc_mav_common.waiting import wait_until
from pqc_mav_proxy.names import was_removed

STATUS_TYPE = "pqc_mav_interfaces/msg/TunnelStatus"
STATUS_TOPIC = "/status"
LOOK_S = 0.25
DISCOVERY_S = 10.0  # ROS finds a service in less than one second; a busy machine, and a new process on it, take several
GUARDS = ("sockets", "mavros")  # diagnostics of a proxy that are about ways around the tunnel


@dataclass
class TunnelView:
    """The newest messages about one tunnel, seen from one of its ends; None until one arrived."""

    node: str  # e.g. "/drone/pqc_proxy"
    drone_id: str
    status: Any = None
    stats: Any = None
    links: dict[str, Any] = field(default_factory=dict)  # side ("local", "peer") -> LinkQuality
    paths: dict[str, Any] = field(default_factory=dict)  # name -> PathStatus, of a drone with several
    status_at_s: float = 0.0  # when it was taken at the proxy, as this process's monotonic time
    stats_at_s: float = 0.0  # when they arrived here, monotonic
    seen_at_s: float = 0.0  # when the first of them arrived here, monotonic: a latched status may be old by then
    # The same two for the newest stats as system time: when its counters were read, at the earliest and at the latest.
    stats_read_s: tuple[float, float] = (0.0, 0.0)


class Watcher:
    """Finds the proxies' topics and keeps the newest message of each. Use under `watch`."""

    # On a busy machine one proxy is found a while before the other.
    look_s = 1.5

    def __init__(self, node: Any, namespace: str = "") -> None:
        self._node = node
        self._namespace = f"/{namespace.strip('/')}/" if namespace.strip("/") else ""
        self._lock = threading.Lock()
        self._views: dict[tuple[str, str], TunnelView] = {}
        self._handshakes: list[tuple[str, Any]] = []
        self._dangers: dict[str, str] = {}  # name of a diagnostic -> its message, while it is an error
        self._subscribed: set[str] = set()
        self._rounds: dict[str, set[tuple[int, int]]] = {}  # proxy -> stamps of its stats, which come in rounds
        self._timer = node.create_timer(LOOK_S, self._look)
        self._look()
        from diagnostic_msgs.msg import DiagnosticArray

        from pqc_mav_common import qos

        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.periodic(32))

    def views(self) -> list[TunnelView]:
        """All tunnels seen so far, in a stable order."""
        with self._lock:
            return [self._views[key] for key in sorted(self._views) if self._views[key].status is not None]

    def handshakes(self) -> list[tuple[str, Any]]:
        """(node, HandshakeReport) of every handshake that ended since the watcher knows the node."""
        with self._lock:
            return list(self._handshakes)

    def dangers(self) -> list[str]:
        """One line for each way around the tunnel that a proxy has found on its machine."""
        with self._lock:
            return [f"/{name.partition(':')[0]}: {message}" for name, message in sorted(self._dangers.items())]

    def complete(self) -> bool:
        """Whether every proxy found has shown all its tunnels and a full set of figures for each.

        A proxy publishes the figures of all its tunnels once a second, in one go: when a second round has begun, the
        first was whole.
        """
        with self._lock:
            heard = {proxy for proxy, _ in self._views}
            whole = all(
                view.status is not None and view.stats is not None and view.links for view in self._views.values()
            )
            return whole and heard == set(self._subscribed) and all(len(self._rounds.get(p, ())) > 1 for p in heard)

    def silent(self) -> list[str]:
        """Proxies whose topics exist and that have not said anything."""
        with self._lock:
            heard = {proxy for proxy, _ in self._views}
            return sorted(set(self._subscribed) - heard)

    def wait_for(self, condition: Callable[[list[TunnelView]], bool], timeout_s: float) -> bool:
        """Waits until `condition` holds for the views, at most `timeout_s`."""
        return wait_until(lambda: condition(self.views()), timeout_s)

    def _look(self) -> None:
        for topic, types in self._node.get_topic_names_and_types():
            if STATUS_TYPE in types and topic.endswith(STATUS_TOPIC) and topic.startswith(self._namespace or "/"):
                self._subscribe(topic.removesuffix(STATUS_TOPIC))

    def _subscribe(self, proxy: str) -> None:
        with self._lock:
            if proxy in self._subscribed:
                return
            self._subscribed.add(proxy)
        from pqc_mav_interfaces.msg import HandshakeReport, LinkQuality, PathStatus, TunnelStats, TunnelStatus

        from pqc_mav_common import qos

        make = self._node.create_subscription
        make(TunnelStatus, f"{proxy}/status", lambda m: self._on_status(proxy, m), qos.latched(64))
        make(TunnelStats, f"{proxy}/stats", lambda m: self._on_stats(proxy, m), qos.periodic(32))
        make(LinkQuality, f"{proxy}/link", lambda m: self._on_link(proxy, m), qos.periodic(64))
        make(PathStatus, f"{proxy}/paths", lambda m: self._on_path(proxy, m), qos.periodic(32))
        make(HandshakeReport, f"{proxy}/handshake", lambda m: self._on_handshake(proxy, m), qos.event())

    def _taken_at_s(self, message: Any) -> float:
        """A latched message may be old when it arrives: its stamp tells (on one machine; across machines about)."""
        stamp = message.header.stamp
        age_s: float = self._node.get_clock().now().nanoseconds / 1e9 - (stamp.sec + stamp.nanosec / 1e9)
        return time.monotonic() - max(0.0, age_s)

    def _view(self, proxy: str, drone_id: str) -> TunnelView:
        return self._views.setdefault((proxy, drone_id), TunnelView(proxy, drone_id, seen_at_s=time.monotonic()))

    def _on_status(self, proxy: str, message: Any) -> None:
        with self._lock:
            if was_removed(message.last_error):
                self._views.pop((proxy, message.drone_id), None)
                return
            view = self._view(proxy, message.drone_id)
            view.status, view.status_at_s = message, self._taken_at_s(message)

    def _on_stats(self, proxy: str, message: Any) -> None:
        stamp = message.header.stamp
        with self._lock:
            view = self._view(proxy, message.drone_id)
            view.stats, view.stats_at_s = message, time.monotonic()  # their machine's clock may be another
            view.stats_read_s = (stamp.sec + stamp.nanosec / 1e9, self._node.get_clock().now().nanoseconds / 1e9)
            rounds = self._rounds.setdefault(proxy, set())
            if len(rounds) < 2:
                rounds.add((stamp.sec, stamp.nanosec))

    def _on_link(self, proxy: str, message: Any) -> None:
        with self._lock:
            self._view(proxy, message.drone_id).links[message.side] = message

    def _on_path(self, proxy: str, message: Any) -> None:
        with self._lock:
            self._view(proxy, message.drone_id).paths[message.name] = message

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            proxy, _, subcomponent = status.name.partition(": ")
            if subcomponent not in GUARDS or not f"/{proxy}".startswith(self._namespace or "/"):
                continue
            with self._lock:
                self._dangers.pop(status.name, None)
                if status.level == status.ERROR:
                    self._dangers[status.name] = status.message

    def _on_handshake(self, proxy: str, message: Any) -> None:
        with self._lock:
            self._handshakes.append((proxy, message))


@contextmanager
def own_domain() -> Iterator[dict[str, str]]:
    """A ROS domain and control sockets of its own, on this machine only: a command may run next to a real system.

    This process is in it from now on; processes that are started without its environment need what is returned.
    """
    from pqc_mav_bringup.loopback import profile_variable
    from pqc_mav_bringup.share import config_file
    from pqc_mav_common.free_ports import held_domain, own_run_folder

    with held_domain() as domain, own_run_folder() as run_folder:
        environment = {
            **run_folder,
            "ROS_DOMAIN_ID": str(domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            profile_variable(os.environ): str(config_file("fastdds_quick_discovery.xml")),
        }
        os.environ.update(environment)
        yield environment


@contextmanager
def ros_node(name: str) -> Iterator[Any]:
    """A spinning node for the time of the block. Raises CliError where ROS 2 is not to be had."""
    own_stdout.claim()
    try:
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.signals import SignalHandlerOptions
    except ImportError as error:
        raise CliError(f"ROS 2 is not available ({error}); 'pqcmav doctor' shows what is missing.") from None
    context = rclpy.Context()
    try:
        rclpy.init(args=list(KEEP_NONE), context=context, signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node(f"{name}_{os.getpid()}", context=context, enable_rosout=False)
    except Exception as error:  # rcl's own, of several kinds
        raise CliError(f"ROS 2 does not start: {one_line(error)} (ROS_DOMAIN_ID, RMW_IMPLEMENTATION?)") from None
    executor = Spun(SingleThreadedExecutor(context=context))
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin, name="executor", daemon=True)
    spinning.start()
    try:
        yield node
    finally:
        # The spin thread must be gone before anything it uses is destroyed.
        executor.shutdown()
        spinning.join()
        node.destroy_node()
        rclpy.shutdown(context=context)


def in_namespace(namespace: str, name: str) -> str:
    """The full name of a topic or service, under `ros_node`. Raises CliError for a namespace that ROS does not know."""
    from rclpy.exceptions import InvalidTopicNameException
    from rclpy.validate_full_topic_name import validate_full_topic_name

    full = f"/{namespace.strip('/')}/{name}" if namespace.strip("/") else f"/{name}"
    try:
        validate_full_topic_name(full)
    except InvalidTopicNameException:
        raise CliError(
            f"'{namespace}' is no namespace of ROS: letters, digits (not first) and '_', with '/' between its names.",
            ExitCode.USAGE,
        ) from None
    return full


def ask(node: Any, kind: Any, service: str, request: Any, limit_s: float, find_s: float = DISCOVERY_S) -> Any:
    """What a service of the proxy or the policy answers. Raises CliError."""
    client = node.create_client(kind, service)
    if not client.wait_for_service(timeout_sec=find_s):
        name = service.split("/")[-2].removeprefix("pqc_")
        raise CliError(f"No service {service} ({reachable(os.environ)}); is the {name} running?")
    future = client.call_async(request)
    if not wait_until(future.done, limit_s, 0.01):
        raise CliError(f"No answer from {service} within {limit_s:g} s.")
    return future.result()


@contextmanager
def watch(namespace: str = "") -> Iterator[Watcher]:
    """A watcher of all proxies, or of those in one namespace."""
    with ros_node("pqcmav_watch") as node:
        yield Watcher(node, namespace)


def reachable(environment: Mapping[str, str]) -> str:
    """In which part of the network proxies are looked for, for messages that none was found."""
    domain = environment.get("ROS_DOMAIN_ID", "0")
    discovery = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    return f"ROS_DOMAIN_ID {domain}, discovery range {discovery}"
