# SPDX-License-Identifier: Apache-2.0
"""The guard as a node, for a proxy in another process: its `/diagnostics` come under the proxy's name.

The proxy in Python has a guard in its own process. The one in C++ is watched by this node, in whatever process of the
system runs Python anyway, or in `pqc_guard`.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from std_msgs.msg import Header

from pqc_mav_common import qos
from pqc_mav_common.diagnostics import to_messages
from pqc_mav_common.errors import one_line
from pqc_mav_common.lifecycle import ManagedNode
from pqc_mav_common.process import leave, run_nodes
from pqc_mav_common.repeater import Repeater
from pqc_mav_proxy.doors import Doors
from pqc_mav_proxy.guard import Guard, dangers
from pqc_mav_proxy.mavros_graph import writers

NODE_NAME = "pqc_guard"
PROXY = "pqc_proxy"
TICK_S = 1.0


class GuardNode(ManagedNode):
    """Looks after the proxies of its system, in the namespace of one of them."""

    at_rest = "nobody looks for ways around the tunnel until it is activated again"

    def __init__(self, siblings: Iterable[str] = (), cli_args: Sequence[str] = (), **arguments: Any) -> None:
        """Raises ParameterError."""
        # Whatever the process is told to call its nodes: a name that a launch file gives is that of another one.
        named = [*cli_args, "--ros-args", "-r", f"__node:={NODE_NAME}"]
        super().__init__(NODE_NAME, cli_args=named, **arguments)
        self.take_parameters((), siblings)
        self._guard = Guard(os.environ, self.context.get_domain_id(), self.get_logger().error, lambda: writers(self))
        self._doors = Doors(os.environ)
        self._ticks = Repeater(TICK_S, self._publish, self._unexpected)  # waits for engines: not for the executor

    def offer(self) -> None:
        """Its diagnostics."""
        self._diagnostics = self.create_lifecycle_publisher(DiagnosticArray, "/diagnostics", qos.diagnostics())

    def begin(self) -> None:
        """Begin to look."""
        self._ticks.start()

    def end(self) -> None:
        """Rest."""
        self._ticks.stop()

    def _publish(self) -> None:
        found = self._guard.diagnostics(time.monotonic(), self._doors.listed)
        self._doors.tell(dangers(found))
        proxy = f"{self.get_namespace()}/{PROXY}".strip("/")
        header = Header(stamp=self.get_clock().now().to_msg())
        self._diagnostics.publish(
            DiagnosticArray(header=header, status=to_messages(proxy, socket.gethostname(), found))
        )

    def _unexpected(self, error: Exception) -> None:
        self.get_logger().error(f"unexpected: {type(error).__name__}: {one_line(error)}")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the node until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    return run_nodes(NODE_NAME, lambda _: [GuardNode], argv, package="pqc_mav_proxy")


def run() -> None:
    """Console script."""
    leave(main())


if __name__ == "__main__":
    run()
