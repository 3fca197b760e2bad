# SPDX-License-Identifier: Apache-2.0
"""Parameters of a drone and a gcs proxy that find each other, on ports nobody uses. Only tests import this module."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pqc_mav_common.free_ports import free_port

HOST = "127.0.0.1"


def gcs_parameters(keys: Path, drones: tuple[str, ...] = ("d1",), **changes: Any) -> dict[str, Any]:
    """A gcs that serves these drones; `keys` is the root of all keys."""
    return {
        "role": "gcs",
        "keys": str(keys / "gcs"),
        "bind": HOST,
        "data_port": free_port(),
        "drones": list(drones),
        "key_pool_depth": 0,
        **changes,
    }


def drone_parameters(keys: Path, data_port: int, drone_id: str = "d1", **changes: Any) -> dict[str, Any]:
    """One of its drones."""
    return {
        "role": "drone",
        "keys": str(keys / "drones" / drone_id),
        "drone_id": drone_id,
        "peer": HOST,
        "bind": HOST,
        "data_port": data_port,
        "local_data_port": 0,
        "plain_bind": f"{HOST}:0",
        **changes,
    }


def parameter_arguments(parameters: dict[str, Any]) -> list[str]:
    """These as ROS arguments."""
    return [word for name, value in parameters.items() for word in ("-p", f"{name}:={json.dumps(value)}")]


def ros_arguments(parameters: dict[str, Any], namespace: str) -> list[str]:
    """The command line of a node with these in a namespace."""
    return ["--ros-args", "-r", f"__ns:=/{namespace}", *parameter_arguments(parameters)]
