# SPDX-License-Identifier: Apache-2.0
"""The executor of nodes whose callbacks run one at a time: driven by events where rclpy can."""

import threading
from typing import Any

# How long it waits for an event at a time. Asked to wait indefinitely, the one of rclpy 7.1 keeps a processor busy
# where the C++ library waits on the system's clock: the end of time is then a time of the past.
WAIT_S = 5.0


def one_thread(context: Any = None) -> Any:
    """An executor for a `Spinner`, which serves its nodes in the thread that spins it.

    rclpy's ordinary executor goes through every timer, service and subscription of its nodes each time one of them has
    something to do. With a dozen services for each node that costs many times the callbacks themselves. Not for the
    recorder, which subscribes to topics as it finds them: there the executor of events did not get that far.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:  # Jazzy before 7.1.5, Humble
        from rclpy.executors import SingleThreadedExecutor

        return SingleThreadedExecutor(context=context)
    return EventDriven(EventsExecutor(context=context))


class EventDriven:
    """rclpy's EventsExecutor, spun in such a way that it sleeps while nothing happens."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._ended = threading.Event()

    def add_node(self, node: Any) -> None:
        """Serve a node, too."""
        self._executor.add_node(node)

    def spin(self) -> None:
        """Serve the nodes until `shutdown`."""
        while not self._ended.is_set():
            self._executor.spin_once(timeout_sec=WAIT_S)

    def shutdown(self, timeout_sec: float | None = None) -> None:
        """End `spin` and let go of the nodes."""
        self._ended.set()
        self._executor.shutdown(timeout_sec)
