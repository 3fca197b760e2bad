# SPDX-License-Identifier: Apache-2.0
"""A flood of ROS 2: `flooder.py NODE SECONDS [PID]` publishes and calls NODE's services as fast as it can.

With the PID of the node's process, that stands still for so long instead. Prints how many seconds the node's next
answer took when it was over. Exits with 1 if it never came.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable

import rclpy
from pqc_mav_interfaces.srv import GetInfo, ListSuites
from rcl_interfaces.msg import Log, ParameterEvent
from rclpy.client import Client
from rclpy.node import Node

FOUND_S, ANSWER_S = 20.0, 30.0
TEXT_BYTES = 50_000


def flood(node: Node, name: str, seconds: float, pid: int = 0) -> Client:
    """For so long: large log lines and parameter events, and calls of two services; or the process `pid` stopped."""
    suites = node.create_client(ListSuites, f"{name}/list_suites")
    info = node.create_client(GetInfo, f"{name}/get_info")
    if not (suites.wait_for_service(FOUND_S) and info.wait_for_service(FOUND_S)):
        sys.exit(f"{name} has no services")
    if pid:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
        return info
    logs = node.create_publisher(Log, "/rosout", 10)
    events = node.create_publisher(ParameterEvent, "/parameter_events", 10)
    steps: tuple[Callable[[], object], ...] = (
        lambda: logs.publish(Log(name="flood", msg="x" * TEXT_BYTES)),
        lambda: events.publish(ParameterEvent(node="x" * TEXT_BYTES)),
        lambda: suites.call_async(ListSuites.Request()),
        lambda: info.call_async(GetInfo.Request()),
    )
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for step in steps:
            step()
    return info


def main() -> int:
    """Flood, and ask."""
    name, seconds, pid = sys.argv[1], float(sys.argv[2]), int(sys.argv[3] if len(sys.argv) > 3 else 0)
    rclpy.init()
    node = rclpy.create_node("flooder")
    info = flood(node, name, seconds, pid)
    began = time.monotonic()
    last = info.call_async(GetInfo.Request())
    rclpy.spin_until_future_complete(node, last, timeout_sec=ANSWER_S)
    if last.result() is None:
        sys.exit(f"{name} did not answer within {ANSWER_S:g} s")
    print(f"{time.monotonic() - began:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
