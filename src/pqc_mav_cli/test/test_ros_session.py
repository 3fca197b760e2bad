# SPDX-License-Identifier: Apache-2.0
"""The watcher with a node that the test feeds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from pqc_mav_interfaces.msg import LinkQuality, PathStatus, TunnelStats, TunnelStatus
from std_msgs.msg import Header

from pqc_mav_bringup.loopback import PROFILES
from pqc_mav_cli.ros_session import STATUS_TYPE, Watcher, own_domain
from pqc_mav_cli.status_view import is_silent
from pqc_mav_common.free_ports import DOMAINS


class Clock:
    nanoseconds = 50_000_000_000

    def now(self) -> Clock:
        return self


class FakeNode:
    """The four things a watcher does with a node."""

    def __init__(self) -> None:
        self.proxies: list[str] = []
        self.look: Callable[[], None] = lambda: None
        self._callbacks: dict[str, Callable[[Any], None]] = {}

    def create_timer(self, _period_s: float, callback: Callable[[], None]) -> None:
        self.look = callback

    def get_topic_names_and_types(self) -> list[tuple[str, list[str]]]:
        return [(f"{proxy}/status", [STATUS_TYPE]) for proxy in self.proxies] + [("/other/status", ["std_msgs/msg/X"])]

    def create_subscription(self, _kind: Any, topic: str, callback: Callable[[Any], None], _profile: Any) -> None:
        assert topic not in self._callbacks
        self._callbacks[topic] = callback

    def get_clock(self) -> Clock:
        return Clock()

    def status(self, proxy: str, drone: str, last_error: str = "") -> None:
        self._callbacks[f"{proxy}/status"](TunnelStatus(drone_id=drone, last_error=last_error))

    def figures(self, proxy: str, drone: str, second: int) -> None:
        header = Header(stamp=Time(sec=second))
        self._callbacks[f"{proxy}/stats"](TunnelStats(header=header, drone_id=drone))
        self._callbacks[f"{proxy}/link"](LinkQuality(header=header, drone_id=drone, side="local"))
        for name in ("lte", "radio"):
            self._callbacks[f"{proxy}/paths"](PathStatus(header=header, drone_id=drone, name=name, taken=second))

    def diagnostics(self, name: str, level: int, message: str) -> None:
        status = DiagnosticStatus(name=name, level=bytes([level]), message=message)
        self._callbacks["/diagnostics"](DiagnosticArray(status=[status]))


@pytest.fixture
def node() -> FakeNode:
    return FakeNode()


@pytest.fixture
def watcher(node: FakeNode) -> Watcher:
    return Watcher(node)


def find(node: FakeNode, *proxies: str) -> None:
    node.proxies += proxies
    node.look()


def test_complete_only_when_every_proxy_found_has_answered(node: FakeNode, watcher: Watcher) -> None:
    find(node, "/drone/p", "/gcs/p")
    for proxy, complete in (("/drone/p", False), ("/gcs/p", True)):
        assert not watcher.complete()
        node.status(proxy, "d1")
        for second in (10, 11):
            assert not watcher.complete()
            node.figures(proxy, "d1", second)
        assert watcher.complete() is complete
    assert [view.node for view in watcher.views()] == ["/drone/p", "/gcs/p"]
    assert [(path.name, path.taken) for path in watcher.views()[0].paths.values()] == [("lte", 11), ("radio", 11)]
    find(node, "/late/p")
    assert not watcher.complete() and watcher.silent() == ["/late/p"]


def test_one_round_is_not_enough_because_a_second_drone_may_follow(node: FakeNode, watcher: Watcher) -> None:
    find(node, "/gcs/p")
    node.status("/gcs/p", "d1")
    node.figures("/gcs/p", "d1", 10)
    assert not watcher.complete()
    node.figures("/gcs/p", "d2", 10)
    node.figures("/gcs/p", "d1", 11)
    assert not watcher.complete(), "d2 has figures and no status yet"
    node.status("/gcs/p", "d2")
    assert watcher.complete()
    assert [view.drone_id for view in watcher.views()] == ["d1", "d2"]


def test_a_drone_that_was_removed_is_not_shown(node: FakeNode, watcher: Watcher) -> None:
    find(node, "/gcs/p")
    for drone in ("d1", "d2"):
        node.status("/gcs/p", drone)
    node.status("/gcs/p", "d2", "REMOVED: this ground station does not serve the drone any more.")
    node.figures("/gcs/p", "d2", 1)  # its last ones may be late
    assert [view.drone_id for view in watcher.views()] == ["d1"]


def test_a_proxy_that_never_speaks_is_named(node: FakeNode, watcher: Watcher) -> None:
    find(node, "/drone/p", "/gcs/p")
    node.status("/drone/p", "d1")
    assert watcher.silent() == ["/gcs/p"]
    assert not watcher.complete()


def test_ways_around_the_tunnel_are_dangers_while_they_are_there(node: FakeNode, watcher: Watcher) -> None:
    node.diagnostics("drone/pqc_proxy: sockets", 2, "DEGRADED: x")
    node.diagnostics("drone/pqc_proxy: tunnel d1", 2, "no session")
    node.diagnostics("gcs/pqc_proxy: sockets", 1, "ROS is open")
    assert watcher.dangers() == ["/drone/pqc_proxy: DEGRADED: x"]
    node.diagnostics("drone/pqc_proxy: sockets", 0, "fine")
    assert watcher.dangers() == []


def test_another_namespaces_dangers_are_left_out(node: FakeNode) -> None:
    watcher = Watcher(node, "drone")
    node.diagnostics("gcs/pqc_proxy: sockets", 2, "DEGRADED: x")
    node.diagnostics("drone/pqc_proxy: sockets", 2, "DEGRADED: y")
    assert watcher.dangers() == ["/drone/pqc_proxy: DEGRADED: y"]


def test_when_the_counters_were_read(node: FakeNode, watcher: Watcher) -> None:
    find(node, "/drone/p")
    node.status("/drone/p", "d1")
    node.figures("/drone/p", "d1", 42)
    assert watcher.views()[0].stats_read_s == (42.0, 50.0)


def test_a_proxy_whose_clock_is_behind_is_not_silent(node: FakeNode, watcher: Watcher) -> None:
    find(node, "/drone/p")
    node.status("/drone/p", "d1")
    (view,) = watcher.views()
    view.seen_at_s = 0.0  # long ago
    assert is_silent(view, time.monotonic())
    node.figures("/drone/p", "d1", 10)
    assert not is_silent(view, time.monotonic())


def test_a_domain_of_ones_own_is_nobody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE", "PQCMAV_RUN_DIR", *PROFILES):
        monkeypatch.setenv(name, "of the shell")
    with own_domain() as mine:
        assert {name: os.environ[name] for name in mine} == mine
        assert mine["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
        assert Path(mine["PQCMAV_RUN_DIR"]).is_dir()
        assert [Path(mine[name]).is_file() for name in PROFILES if name in mine] == [True]
        # What a second command is offered first is the one that is taken.
        offered = chain([int(mine["ROS_DOMAIN_ID"])] * 3, DOMAINS)
        monkeypatch.setattr("pqc_mav_common.free_ports.free_domain", lambda: next(offered))
        with own_domain() as other:
            assert other["ROS_DOMAIN_ID"] != mine["ROS_DOMAIN_ID"]
