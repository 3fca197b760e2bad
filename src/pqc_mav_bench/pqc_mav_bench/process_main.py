# SPDX-License-Identifier: Apache-2.0
"""What both node processes have in common: they bring ROS up and down around a spinning node."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from pqc_mav_common.process import Spinner, ros

EXECUTOR_THREADS = 4


@contextmanager
def spinning(arguments: list[str], make_node: Callable[[], Any]) -> Iterator[Any]:
    """A node whose callbacks run in threads of their own for the time of the block; `node.close()` is called first.

    A second node in the attribute `observer`, where there is one, has a single thread. Raises ProcessError.
    """
    from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor

    from pqc_mav_common.lifecycle import serving

    with ros(arguments), ExitStack() as stack:
        node = make_node()
        if hasattr(node, "observer"):
            spinner = stack.enter_context(Spinner(SingleThreadedExecutor()))
            spinner.add(node.observer)
            spinner.start()
        stack.enter_context(serving(MultiThreadedExecutor(num_threads=EXECUTOR_THREADS), [lambda: node]))
        yield node
