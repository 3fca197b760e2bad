# SPDX-License-Identifier: Apache-2.0
"""MetalLB in the cluster, by its own manifest: it gives services of type LoadBalancer an address in the nodes' network.

The speaker of the node that has the service's pod answers ARP for that address (layer 2 mode, and the service's
`externalTrafficPolicy: Local`), so no packet goes through another node.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cluster.control import ClusterError, Control
from cluster.network import BALANCED

_SPACE = "metallb-system"
_PARTS = ("deployment/controller", "daemonset/speaker")
_NAME = {"name": "stations", "namespace": _SPACE}


class Balancer:
    """Deployed in a cluster whose nodes are ready."""

    def __init__(self, control: Control, manifest: Path) -> None:
        """`manifest`: metallb-native.yaml of a release whose images the nodes have."""
        self._control = control
        self._addresses: dict[str, str] = {}
        control.kubectl("apply", "--server-side", "-f", str(manifest))
        for part in _PARTS:
            words = ["rollout", "status", part, "--namespace", _SPACE, "--timeout=100s"]
            control.kubectl(*words, limit_s=120.0)
        control.apply(
            _made("IPAddressPool", {"addresses": [BALANCED]}),
            _made("L2Advertisement", {"ipAddressPools": ["stations"]}),
        )

    def serve(self, name: str, service: str, namespace: str) -> None:
        """Wait until a service has its address, and keep that under this name."""

        def given() -> str:
            status = self._control.get("service", service, "--namespace", namespace).get("status", {})
            return next((str(each["ip"]) for each in status.get("loadBalancer", {}).get("ingress", [])), "")

        self._addresses[name] = self._control.wait(given, f"the service in {namespace} gets no address")

    def address(self, name: str) -> str:
        """The address under this name."""
        if name not in self._addresses:
            raise ClusterError(f"the service of {name} has no address yet")
        return self._addresses[name]

    def at(self, namespace: str) -> str:
        """The node that answers for a namespace's service now; empty if there is none, or not one only."""
        words = ["servicel2statuses", "--namespace", _SPACE, "--selector", f"metallb.io/service-namespace={namespace}"]
        nodes = [each.get("status", {}).get("node", "") for each in self._control.get(*words).get("items", [])]
        return str(nodes[0]) if len(nodes) == 1 else ""


def _made(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "metallb.io/v1beta1", "kind": kind, "metadata": _NAME, "spec": spec}
