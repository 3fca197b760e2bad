"""What both node processes do alike: bring ROS up and down around a spinning node."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

EXECUTOR_THREADS = 4
SHUTDOWN_S = 5.0


@contextmanager
def spinning(arguments: list[str], make_node: Callable[[], Any]) -> Iterator[Any]:
    """A node whose callbacks run in threads of their own for the time of the block; `node.close()` is called first.

    A second node in the attribute `observer`, where there is one, has a single thread.
    """
    import rclpy
    from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions

    # Signals are handled by the caller: rclpy's own handlers would take the context away before everything is closed.
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = make_node()
        executors = [(node, MultiThreadedExecutor(num_threads=EXECUTOR_THREADS))]
        if hasattr(node, "observer"):
            executors.append((node.observer, SingleThreadedExecutor()))
        threads = [threading.Thread(target=executor.spin, name="executor") for _, executor in executors]
        for (spun, executor), thread in zip(executors, threads, strict=True):
            executor.add_node(spun)
            thread.start()
        try:
            yield node
        finally:
            node.close()
            # The spin threads must be gone before anything they use is destroyed.
            for (spun, executor), thread in zip(executors, threads, strict=True):
                executor.shutdown(timeout_sec=SHUTDOWN_S)
                thread.join()
                spun.destroy_node()
    finally:
        rclpy.try_shutdown()


def leave(code: int) -> None:
    """Ends the process. Everything of ours is closed; teardown would only run the middleware's static destructors."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
