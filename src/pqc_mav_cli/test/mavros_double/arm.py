# SPDX-License-Identifier: Apache-2.0
"""A program that calls a mavros' `cmd/arming`: arm.py MAVROS true|false. Prints "done", "refused" or "no answer".

Not before that mavros has heard the vehicle, if it does within 30 s: until then it does not know where to send.
"""

from __future__ import annotations

import sys
import time

import rclpy
from mavros_msgs.msg import State
from mavros_msgs.srv import CommandBool
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

WAIT_S = 30.0


def wait_until_connected(node: Node, mavros: str) -> None:
    """Spins until the vehicle was heard, or the time is over."""
    heard: list[bool] = []
    latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(State, f"{mavros}/state", lambda message: heard.append(message.connected), latched)
    end = time.monotonic() + WAIT_S
    while not any(heard[-1:]) and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)


def main() -> None:
    """One call."""
    rclpy.init()
    node = rclpy.create_node("commander")
    wait_until_connected(node, sys.argv[1])
    client = node.create_client(CommandBool, f"{sys.argv[1]}/cmd/arming")
    future = None
    if client.wait_for_service(WAIT_S):
        future = client.call_async(CommandBool.Request(value=sys.argv[2] == "true"))
        rclpy.spin_until_future_complete(node, future, timeout_sec=WAIT_S)
    answer = future.result() if future is not None and future.done() else None
    print("no answer" if answer is None else "done" if answer.success else "refused")


if __name__ == "__main__":
    main()
