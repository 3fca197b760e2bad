# SPDX-License-Identifier: Apache-2.0
"""Which changes of keys a watcher remembers."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pqc_mav_interfaces.msg import TunnelStats, TunnelStatus

from pqc_mav_bench.collectors import proxy_watch
from pqc_mav_bench.collectors.proxy_watch import ProxyWatch


class Listens:
    """A node that keeps what would be called."""

    def __init__(self) -> None:
        self.heard: dict[str, Any] = {}

    def create_subscription(self, _kind: Any, topic: str, call: Any, _qos: Any) -> None:
        self.heard[topic] = call


def told(watch_node: Listens, suite: str, epoch: int, state: int = TunnelStatus.UP) -> None:
    watch_node.heard["/d/p/status"](TunnelStatus(drone_id="d", suite=suite, epoch=epoch, state=state))


def test_each_change_is_remembered_once_and_only_of_a_session() -> None:
    node = Listens()
    watch = ProxyWatch(node, "/d/p")
    told(node, "a", 1)
    began = time.monotonic()
    told(node, "a", 1)
    told(node, "a", 1, TunnelStatus.REKEYING)
    told(node, "b", 2)
    told(node, "", 0, TunnelStatus.HANDSHAKING)
    told(node, "b", 2, TunnelStatus.DEGRADED)
    told(node, "b", 3)
    assert watch.keys_since(began) == [("b", 2), ("b", 3)]
    assert watch.keys_since(0.0) == [("a", 1), ("b", 2), ("b", 3)]


def test_what_was_handed_on_a_second_is_between_two_readings_of_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Listens()
    watch = ProxyWatch(node, "/d/p")
    for at_s, count in ((1.0, 500), (2.0, 1000), (3.0, 4000), (4.0, 7000), (5.0, 7001)):
        monkeypatch.setattr(proxy_watch.time, "monotonic", lambda at_s=at_s: at_s)
        node.heard["/d/p/stats"](TunnelStats(drone_id="d", plain_tx_bytes=count))
    assert watch.handed_bytes_per_s(1.5, 4.5) == 3000.0
    assert watch.handed_bytes_per_s(1.5, 2.5) is None


def test_memory_is_bounded() -> None:
    node = Listens()
    watch = ProxyWatch(node, "/d/p")
    for number in range(2 * proxy_watch.KEYS_KEPT):
        told(node, "a", number % 256)
    assert len(watch.keys_since(0.0)) <= proxy_watch.KEYS_KEPT + 1
