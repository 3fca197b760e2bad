# SPDX-License-Identifier: Apache-2.0
"""A node that asks a pqcmav-tunneld, for the tests of the two together."""

from __future__ import annotations

from typing import Any

from rclpy.executors import MultiThreadedExecutor
from test_node import Spinning

from pqc_mav_common.executors import Spun
from pqc_mav_common.lifecycle import bring_up
from pqc_mav_common.local_socket import ATTACH
from pqc_mav_common.testing_daemons import Daemon
from pqc_mav_common.testing_proxies import ros_arguments
from pqc_mav_proxy.node import PqcProxyNode

PROXY = "/far/pqc_proxy"


class Far:
    """A node in this process that asks a daemon. Use it in a `with` block; `start` may be called again."""

    def __init__(self, daemon: Daemon, **parameters: Any) -> None:
        self._arguments = ros_arguments({**daemon.config, "tunnel": ATTACH, **parameters}, "far")
        self.node: PqcProxyNode
        self._spinning: Spinning | None = None

    def start(self, *, up: bool = True) -> None:
        self.node = PqcProxyNode(cli_args=self._arguments, use_global_arguments=False)
        self._spinning = Spinning(Spun(MultiThreadedExecutor(3)), [self.node])
        if up:
            bring_up(self.node)

    def stop(self) -> None:
        if self._spinning is not None:
            self._spinning.end()
            self._spinning = None

    def __enter__(self) -> Far:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
