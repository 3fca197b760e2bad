# SPDX-License-Identifier: Apache-2.0
"""The configuration of a gcs and its drones that find each other, on one machine unless said otherwise.

`keys` is the root of all keys, as `init_keys` makes it.
"""

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"


def gcs_config(keys: str | PathLike[str], grounds: Mapping[str, int], /, **more: Any) -> dict[str, Any]:
    """A gcs that delivers each drone's messages to its ground port; its own ports are free ones unless given."""
    drones = {drone: {"plain_peer": f"{HOST}:{port}"} for drone, port in grounds.items()}
    base = {"role": "gcs", "keys": f"{keys}/gcs", "bind": HOST, "data_port": 0}
    return {**base, "drones": list(grounds), "drone": drones, **more}


def drone_config(keys: str | PathLike[str], drone: str, data_port: int, /, **more: Any) -> dict[str, Any]:
    """A drone for a gcs with this port."""
    base = {"role": "drone", "keys": f"{keys}/drones/{drone}", "drone_id": drone, "peer": HOST, "bind": HOST}
    return {**base, "local_data_port": 0, "data_port": data_port, "plain_bind": f"{HOST}:0", **more}


def write(path: Path, config: Mapping[str, Any]) -> Path:
    """Writes it as pqcmav-tunneld reads it."""
    path.write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    return path
