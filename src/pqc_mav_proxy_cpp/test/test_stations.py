# SPDX-License-Identifier: Apache-2.0
"""A drone with two ground stations is moved between them by a parameter, whichever proxy it is."""

from __future__ import annotations

from pathlib import Path

import pqc_mav_tunnel
import pytest
from pqc_mav_interfaces.msg import TunnelStatus
from proxies import KINDS, NODE, start
from watcher import Watcher

from pqc_mav_common import qos
from pqc_mav_common.testing import Running, until
from pqc_mav_common.testing_proxies import HOST, drone_parameters, gcs_parameters

STATIONS = ("north", "south")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys of one drone and two stations; the drone's folder is `d1`."""
    made = tmp_path_factory.mktemp("stations") / "root"
    pqc_mav_tunnel.init_keys(str(made), ["d1"], sig_tokens=["mldsa65"], stations=list(STATIONS))
    pqc_mav_tunnel.export_drone(str(made), "d1", str(made.parent / "d1"))
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_the_parameter_station_moves_the_drone_at_once(kind: str, root: Path, watcher: Watcher) -> None:
    grounds = {
        name: {**gcs_parameters(root), "keys": str(root / "stations" / name), "gcs_id": name} for name in STATIONS
    }
    drone = {
        **drone_parameters(root, 1, standby=True),
        "keys": str(root.parent / "d1"),
        "peer": ", ".join(f"{name}@{HOST}:{ground['data_port']}" for name, ground in grounds.items()),
    }
    processes: list[Running] = []
    node = f"/{kind}_air/{NODE}"
    try:
        processes = [start(kind, ground, f"{kind}_{name}") for name, ground in grounds.items()]
        air = start(kind, drone, f"{kind}_air")
        processes.append(air)
        air.wait_for("-> UP")
        seen = watcher.collect(TunnelStatus, f"{node}/status", qos.latched(1))

        def roles() -> list[str]:
            return [" ".join(each.split()[:2]) for each in seen[-1].stations] if seen else []

        until(lambda: roles() == ["north active", "south standby"], "both stations")
        assert (seen[-1].station, seen[-1].station_role, seen[-1].term) == ("north", "active", 1)
        assert watcher.put(node, "station", "south").successful
        until(lambda: roles() == ["north standby", "south active"], "the other one")
        assert (seen[-1].station, seen[-1].term) == ("south", 2)
        air.wait_for('is set to "south"; it counts from now on.')
        assert watcher.put(node, "station", "east").successful  # for another configuration
        air.wait_for('is set to "east"; it counts from the next configure on.')
        assert roles() == ["north standby", "south active"]
    finally:
        for process in processes:
            process.kill()
