# SPDX-License-Identifier: Apache-2.0
"""How suites and ports are written in sentences for people. Fields, topics and machine formats have the long ids."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache


@lru_cache(maxsize=256)
def short_code(suite: str) -> str:
    """Short code of a suite given by its id; what this version does not know stays as it is."""
    import pqc_mav_tunnel

    try:
        return str(pqc_mav_tunnel.find_suite(suite).short_code) if suite else ""
    except pqc_mav_tunnel.TunnelError:
        return suite


def plain_ports(ports: Mapping[str, int | str], peers: Mapping[str, str]) -> str:
    """Each drone's plaintext port, and where MAVLink goes from there: that is where ground software must listen."""
    to = {drone: f" (MAVLink to {peers[drone]})" if peers.get(drone) else "" for drone in ports}
    return ", ".join(f"{drone} {port}{to[drone]}" for drone, port in ports.items())
