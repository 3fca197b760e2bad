# SPDX-License-Identifier: Apache-2.0
"""Parameters of a drone and a gcs proxy that find each other on this machine, on ports nobody uses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pqc_mav_common.free_ports import free_port


def gcs_parameters(keys: Path, drones: tuple[str, ...] = ("d1",), **changes: Any) -> dict[str, Any]:
    return {
        "role": "gcs",
        "keys": str(keys / "gcs"),
        "bind": "127.0.0.1",
        "data_port": free_port(),
        "drones": list(drones),
        "key_pool_depth": 0,
        **changes,
    }


def drone_parameters(keys: Path, gcs: dict[str, Any], drone_id: str = "d1", **changes: Any) -> dict[str, Any]:
    return {
        "role": "drone",
        "keys": str(keys / "drones" / drone_id),
        "drone_id": drone_id,
        "peer": "127.0.0.1",
        "bind": "127.0.0.1",
        "data_port": gcs["data_port"],
        "local_data_port": 0,
        "plain_bind": "127.0.0.1:0",
        **changes,
    }


def ros_arguments(parameters: dict[str, Any], namespace: str) -> list[str]:
    return ["--ros-args", "-r", f"__ns:=/{namespace}", *parameter_arguments(parameters)]


def parameter_arguments(parameters: dict[str, Any]) -> list[str]:
    return [word for name, value in parameters.items() for word in ("-p", f"{name}:={json.dumps(value)}")]
