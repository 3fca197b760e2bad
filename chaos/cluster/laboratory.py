# SPDX-License-Identifier: Apache-2.0
"""The whole cluster: network, control plane, nodes, three stations and their drones."""

from __future__ import annotations

import contextlib
import tempfile
import time
from functools import partial
from pathlib import Path

from cluster.balancer import Balancer
from cluster.control import Control, until
from cluster.fleet import STATIONS, Drones, Stations
from cluster.network import NODES, Network
from cluster.node import Node

DRONES = 6
_SETTLE_S, _QUIET_S = 60.0, 2.0
_LATEST = 300  # commands


class Laboratory:
    """Everything, from nothing; a context manager."""

    def __init__(self, place: Path, drones: int = DRONES) -> None:
        """`place`: the folder with `bin` (Kubernetes' programs), `images` (archives) and MetalLB's manifest."""
        self._stack = contextlib.ExitStack()
        try:
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="cluster-", dir=place)))
            (folder / "images").symlink_to(place / "images")
            self.network = Network()
            self._stack.callback(self.network.close)
            self.control = Control(place / "bin", folder, self.network)
            self._stack.callback(self.control.close)
            self.nodes = {name: Node(name, place / "bin", folder, self.network, self.control) for name in NODES}
            for node in self.nodes.values():
                self._stack.callback(node.remove)
                node.start()
            for name in NODES:
                self.control.wait(partial(self.ready, name), f"{name} is not ready")
            names = [f"drone{at + 1}" for at in range(drones)]
            # One is known to the stations and does not fly until a scene needs it.
            self.spare = f"drone{drones + 1}"
            balancer = Balancer(self.control, place / "metallb.yaml")
            self.stations = Stations(folder, self.control, balancer, [*names, self.spare])
            for name in STATIONS:
                self.stations.wait(name)
            self.drones = Drones(folder, self.network, self.stations)
            self._stack.callback(self.drones.close)
            for drone in names:
                self.drones.start(drone)
            self.drones.wait()
        except BaseException:
            self.close()
            raise

    def ready(self, node: str) -> bool:
        """Whether the cluster says that this node is ready."""
        self.nodes[node].check()
        conditions = self.control.get("node", node).get("status", {}).get("conditions", [])
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    def settle(self) -> None:
        """All stations run, each on a node of its own, and each drone hears its own first one."""
        for name in STATIONS:
            self.stations.wait(name)
        for name in self._crowded():
            self.stations.restart(name)

        def astray() -> str:
            for drone in self.drones.started:
                heard = {each.station for each in self.drones.autopilots.commands(drone, _LATEST)}
                if heard != {self.drones.first(drone)}:
                    return f"{drone} hears {', '.join(sorted(heard)) or 'nobody'}: {self.drones.last_words(drone)}"
            return ""

        until(lambda: not astray(), astray, _SETTLE_S)
        time.sleep(_QUIET_S)

    def _crowded(self) -> list[str]:
        """Stations on the node of an earlier one: Kubernetes moves nothing back by itself."""
        nodes = [self.stations.node(name) for name in STATIONS]
        return [name for at, name in enumerate(STATIONS) if nodes[at] in nodes[:at]]

    def close(self) -> None:
        """Give everything back."""
        self._stack.close()

    def __enter__(self) -> Laboratory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
