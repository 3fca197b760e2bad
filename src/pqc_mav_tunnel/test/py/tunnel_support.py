# SPDX-License-Identifier: Apache-2.0
"""Configurations and a running pair of engines."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pqc_mav_tunnel as tunnel

LIGHT = "cs-mlkem512-aesgcm-mldsa44"


def eventually(condition: Callable[[], Any], limit_s: float = 20.0) -> bool:
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def udp() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.settimeout(10)
    return sock


def gcs_config(folder: Path, **more: Any) -> dict[str, Any]:
    return {
        "role": "gcs",
        "keys": str(folder / "gcs"),
        "drones": ["uav1"],
        "bind": "127.0.0.1",
        "data_port": 0,
        "key_pool_depth": 0,
        **more,
    }


def drone_config(folder: Path, ports: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "role": "drone",
        "keys": str(folder / "drones" / "uav1"),
        "drone_id": "uav1",
        "peer": "127.0.0.1",
        "bind": "127.0.0.1",
        "data_port": ports["data"],
        "local_data_port": 0,
        "plain_bind": "127.0.0.1:0",
        "suite": LIGHT,
        **more,
    }


@dataclass
class Pair:
    """Two running engines and the applications' sockets."""

    gcs: tunnel.Engine
    drone: tunnel.Engine
    ground: socket.socket
    autopilot: socket.socket = field(default_factory=udp)

    def up(self) -> bool:
        return all(engine.status()[0]["state"] == "UP" for engine in (self.gcs, self.drone))

    def send_up(self, data: bytes) -> None:
        self.autopilot.sendto(data, ("127.0.0.1", self.drone.ports()["plain"]["uav1"]))

    def send_down(self, data: bytes) -> None:
        self.ground.sendto(data, ("127.0.0.1", self.gcs.ports()["plain"]["uav1"]))

    def close(self) -> None:
        self.drone.stop()
        self.gcs.stop()
        self.ground.close()
        self.autopilot.close()
