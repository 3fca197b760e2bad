# SPDX-License-Identifier: Apache-2.0
"""Ends on loopback, without namespaces or root: what soak, fleet and failsafe need of ports and configurations."""

from __future__ import annotations

from typing import Any

HOST = "127.0.0.1"


def gcs_config(keys: str, grounds: dict[str, int], **more: Any) -> dict[str, Any]:
    """A gcs on loopback that delivers each drone's messages to its ground port; ports are free ones unless given."""
    drones = {drone: {"plain_peer": f"{HOST}:{port}"} for drone, port in grounds.items()}
    base = {"role": "gcs", "keys": f"{keys}/gcs", "bind": HOST, "data_port": 0}
    return {**base, "drones": list(grounds), "drone": drones, **more}


def drone_config(keys: str, drone: str, ports: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A drone on loopback for a gcs whose `Engine.ports()` are given."""
    base = {"role": "drone", "keys": f"{keys}/drones/{drone}", "drone_id": drone, "peer": HOST, "local_data_port": 0}
    links = {"data_port": ports["data"], "plain_bind": f"{HOST}:0"}
    return {**base, **links, **more}
