# SPDX-License-Identifier: Apache-2.0
"""The laboratory's load balancer for services of type LoadBalancer with `externalTrafficPolicy: Local`.

As one of a cloud it gives a service its address when that is made, asks every node at the service's health check port
whether it has a pod for it, and leads the address to one that says yes. No packet goes through it.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading

from cluster.control import ClusterError, Control
from cluster.network import BALANCED, NODES, Network

_EVERY_S, _LIMIT_S = 0.25, 0.5
_ASK = b"GET /healthz HTTP/1.0\r\n\r\n"


class Balancer:
    """Follows the services that it has given an address, in a thread of its own, until `close`."""

    def __init__(self, control: Control, network: Network) -> None:
        self._control, self._network = control, network
        self._ports: dict[str, int] = {}
        self._at: dict[str, str] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def serve(self, name: str, service: str, namespace: str) -> str:
        """Give a service its address, and return that; it stays the same under the same name."""
        words = ["service", service, "--namespace", namespace]
        found = self._control.wait(lambda: self._control.get(*words), f"there is no service in {namespace}")
        self._ports.setdefault(name, int(found["spec"]["healthCheckNodePort"]))
        status = {"status": {"loadBalancer": {"ingress": [{"ip": self.address(name)}]}}}
        patch = ["patch", *words, "--subresource=status", "--type=merge", "--patch", json.dumps(status)]
        self._control.kubectl(*patch)
        return self.address(name)

    def address(self, name: str) -> str:
        """The address under this name."""
        if name not in self._ports:
            raise ClusterError(f"the service of {name} has no address yet")
        return f"{BALANCED}.{list(self._ports).index(name) + 1}"

    def at(self, name: str) -> str:
        """The node to which an address leads now; empty before the first pod."""
        return self._at.get(name, "")

    def _follow(self) -> None:
        while not self._ended.wait(_EVERY_S):
            for name, port in list(self._ports.items()):
                well = [node for node in NODES if self._has(node, port)]
                if well and self.at(name) not in well:
                    self._network.lead(self.address(name), well[0])
                    self._at[name] = well[0]

    def _has(self, node: str, port: int) -> bool:
        def ask() -> bytes:
            with contextlib.suppress(OSError), socket.create_connection((NODES[node], port), _LIMIT_S) as end:
                end.sendall(_ASK)
                return end.recv(100)
            return b""

        return b" 200 " in self._network["outside"].call(ask)

    def close(self) -> None:
        """Follow no longer."""
        self._ended.set()
        self._thread.join()
