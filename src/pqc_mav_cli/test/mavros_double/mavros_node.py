# SPDX-License-Identifier: Apache-2.0
"""The double as a program: what `mavros_node` does with its parameters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import rclpy
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node

from mavros_double.router import Router
from mavros_double.vehicle_node import VehicleNode


def plugins(vehicle: VehicleNode) -> Iterator[Node]:
    """The nodes of the plugins in its list, as far as the suite depends on them: `sys` sends the heartbeats."""
    if vehicle.allows("sys_status"):
        made = Node("sys")
        rate_hz = float(made.declare_parameter("heartbeat_rate", 1.0).value or 1.0)
        made.create_timer(1.0 / rate_hz, vehicle.beat)
        yield made


def main() -> None:
    """Runs until it is told to stop."""
    rclpy.init()
    node = Node("mavros_node")
    given = {"fcu_url": "", "gcs_url": "", "tgt_system": 1, "tgt_component": 1}
    values = {name: node.declare_parameter(name, default).value for name, default in given.items()}
    uas_url = f"/uas{values['tgt_system']}"
    executor = MultiThreadedExecutor(num_threads=4)
    vehicle = VehicleNode(uas_url, values["tgt_system"], values["tgt_component"])
    for each in (node, Router(values["fcu_url"], values["gcs_url"], uas_url), vehicle, *plugins(vehicle)):
        executor.add_node(each)
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()
