# SPDX-License-Identifier: Apache-2.0
"""A program that calls a mavros' `cmd/arming`: arm.py SERVICE true|false. Prints "done", "refused" or "no answer"."""

from __future__ import annotations

import sys

import rclpy
from mavros_msgs.srv import CommandBool


def main() -> None:
    """One call."""
    rclpy.init()
    node = rclpy.create_node("commander")
    client = node.create_client(CommandBool, sys.argv[1])
    future = None
    if client.wait_for_service(30.0):
        future = client.call_async(CommandBool.Request(value=sys.argv[2] == "true"))
        rclpy.spin_until_future_complete(node, future, timeout_sec=30.0)
    answer = future.result() if future is not None and future.done() else None
    print("no answer" if answer is None else "done" if answer.success else "refused")


if __name__ == "__main__":
    main()
