# SPDX-License-Identifier: Apache-2.0
"""Parameters of a drone and a gcs proxy that find each other, on ports nobody uses. Only tests import this module."""

import json
from pathlib import Path
from typing import Any

from pqc_mav_common.free_ports import free_port
from pqc_mav_common.two_ends import HOST, drone_config, gcs_config

__all__ = ["HOST", "drone_parameters", "gcs_parameters", "parameter_arguments", "ros_arguments"]


def gcs_parameters(keys: Path, drones: tuple[str, ...] = ("d1",), **changes: Any) -> dict[str, Any]:
    """A gcs that serves these drones; `keys` is the root of all keys."""
    config = gcs_config(keys, {}, data_port=free_port(), drones=list(drones), key_pool_depth=0)
    del config["drone"]
    return {**config, **changes}


def drone_parameters(keys: Path, data_port: int, drone_id: str = "d1", **changes: Any) -> dict[str, Any]:
    """One of its drones."""
    return drone_config(keys, drone_id, data_port, **changes)


def parameter_arguments(parameters: dict[str, Any]) -> list[str]:
    """These as ROS arguments."""
    return [word for name, value in parameters.items() for word in ("-p", f"{name}:={json.dumps(value)}")]


def ros_arguments(parameters: dict[str, Any], namespace: str) -> list[str]:
    """The command line of a node with these in a namespace."""
    return ["--ros-args", "-r", f"__ns:=/{namespace}", *parameter_arguments(parameters)]
