# SPDX-License-Identifier: Apache-2.0
"""The executors of nodes: driven by events where rclpy can and callbacks run in turn; they sleep, and they end."""

import threading
from typing import Any

# How long one waits for an event at a time.
WAIT_S = 1.0


def one_thread() -> "Spun":
    """An executor for a `Spinner`, which serves its nodes in the thread that spins it.

    rclpy's ordinary executor goes through every timer, service and subscription of its nodes each time one of them has
    something to do. With a dozen services for each node that costs many times the callbacks themselves. Not for the
    recorder, which subscribes to topics as it finds them: there the executor of events did not get that far.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:  # Jazzy before 7.1.5, Humble
        from rclpy.executors import SingleThreadedExecutor

        return Spun(SingleThreadedExecutor())
    return Spun(EventsExecutor())


class Spun:
    """An executor of rclpy that is asked to wait a while at a time, never indefinitely.

    Waiting indefinitely, the executor of events of rclpy 7.1 keeps a processor busy where the C++ library waits on the
    system's clock: the end of time is then a time of the past. The ordinary ones never end if `shutdown` comes between
    their look at whether they are to end and their wait: it destroys the guard that would wake them.
    """

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._ended = threading.Event()

    def add_node(self, node: Any) -> None:
        """Serve a node, too."""
        self._executor.add_node(node)

    def spin(self) -> None:
        """Serve the nodes until `shutdown`."""
        while not self._ended.is_set():
            try:
                self._executor.spin_once(timeout_sec=WAIT_S)
            except Exception:
                if not self._ended.is_set():  # `shutdown` takes away what a look in this thread still uses
                    raise

    def shutdown(self, timeout_sec: float | None = None) -> None:
        """End `spin` within `WAIT_S` and let go of the nodes."""
        self._ended.set()
        self._executor.shutdown(timeout_sec)
