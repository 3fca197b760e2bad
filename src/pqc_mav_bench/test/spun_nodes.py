# SPDX-License-Identifier: Apache-2.0
"""ROS nodes in a context of their own, spun in another thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import rclpy
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node

from pqc_mav_common.executors import Spun


@contextmanager
def spun(*names: str, threads: int = 2) -> Iterator[tuple[tuple[Node, ...], ExitStack]]:
    """The nodes, and a stack for what has to go once nobody spins them any more, and before they go."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    executor = Spun(MultiThreadedExecutor(num_threads=threads, context=context))
    made = tuple(rclpy.create_node(name, context=context) for name in names)
    for node in made:
        executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    with ExitStack() as stack:
        yield made, stack
        executor.shutdown()
        thread.join()
    for node in made:
        node.destroy_node()
    rclpy.shutdown(context=context)
