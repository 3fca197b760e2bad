# SPDX-License-Identifier: Apache-2.0
"""What both node processes have in common: they bring ROS up and down around a spinning node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from pqc_mav_common.process import Spinner, ros

EXECUTOR_THREADS = 4


@contextmanager
def spinning(arguments: list[str], make_node: Callable[[], Any]) -> Iterator[Any]:
    """A node whose callbacks run in threads of their own for the time of the block; `node.close()` is called first.

    A second node in the attribute `observer`, where there is one, has a single thread.
    """
    from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor

    with ros(arguments), ExitStack() as stack:
        node = make_node()
        served = [(node, MultiThreadedExecutor(num_threads=EXECUTOR_THREADS))]
        if hasattr(node, "observer"):
            served.insert(0, (node.observer, SingleThreadedExecutor()))
        for spun, executor in served:
            spinner = stack.enter_context(Spinner(executor))
            spinner.add(spun)
            spinner.start()
        stack.enter_context(closing(node))
        yield node
