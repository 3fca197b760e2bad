# SPDX-License-Identifier: Apache-2.0
"""Which changes of keys a watcher remembers."""

from __future__ import annotations

import time
from typing import Any

from pqc_mav_interfaces.msg import TunnelStatus

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


def test_memory_is_bounded() -> None:
    node = Listens()
    watch = ProxyWatch(node, "/d/p")
    for number in range(2 * proxy_watch.KEYS_KEPT):
        told(node, "a", number % 256)
    assert len(watch.keys_since(0.0)) <= proxy_watch.KEYS_KEPT + 1
