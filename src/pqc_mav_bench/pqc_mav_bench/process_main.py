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
    """A node whose callbacks run in threads of their own for the time of the block; `node.close()` is called first."""
    import rclpy
    from rclpy.executors import MultiThreadedExecutor
    from rclpy.signals import SignalHandlerOptions

    # Signals are handled by the caller: rclpy's own handlers would take the context away before everything is closed.
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = make_node()
        executor = MultiThreadedExecutor(num_threads=EXECUTOR_THREADS)
        executor.add_node(node)
        thread = threading.Thread(target=executor.spin, name="executor")
        thread.start()
        try:
            yield node
        finally:
            node.close()
            # The spin thread must be gone before anything it uses is destroyed.
            executor.shutdown(timeout_sec=SHUTDOWN_S)
            thread.join()
            node.destroy_node()
    finally:
        rclpy.try_shutdown()


def leave(code: int) -> None:
    """Ends the process. Everything of ours is closed; teardown would only run the middleware's static destructors."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
