# SPDX-License-Identifier: Apache-2.0
"""Sensing nodes and a listener in one context, spun until something holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile

from pqc_mav_common.lifecycle import bring_up

DEADLINE_S = 30.0


class Bench:
    """Nodes of a test; `heard` holds the newest message of each topic that was asked for."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.executor = SingleThreadedExecutor(context=context)
        self.listener = Node("listener", context=context, enable_rosout=False)
        self.executor.add_node(self.listener)
        self.heard: dict[str, list[Any]] = {}
        self._made: list[Any] = []

    def start(self, kind: Callable[..., Any], namespace: str = "/drone", **values: Any) -> Any:
        """A sensing node with these parameters."""
        node = kind(
            context=self.context,
            namespace=namespace,
            parameter_overrides=[Parameter(name, value=value) for name, value in values.items()],
        )
        self._made.append(node)
        self.executor.add_node(node)
        bring_up(node)
        return node

    def listen(self, kind: Any, topic: str, qos: QoSProfile | int = 10) -> list[Any]:
        """All messages of a topic from now on."""
        messages: list[Any] = self.heard.setdefault(topic, [])
        self.listener.create_subscription(kind, topic, messages.append, qos)
        return messages

    def until(self, condition: Callable[[], Any], what: str = "") -> None:
        """Spins until the condition holds."""
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < deadline, what or {topic: got[-1:] for topic, got in self.heard.items()}
            self.executor.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        for node in self._made:
            node.close()
            node.destroy_node()
        self.listener.destroy_node()
        self.executor.shutdown()


@contextmanager
def bench() -> Iterator[Bench]:
    context = Context()
    rclpy.init(args=[], context=context)
    made = Bench(context)
    try:
        yield made
    finally:
        made.close()
        rclpy.shutdown(context=context)
