# SPDX-License-Identifier: Apache-2.0
"""The cluster's network: its control plane, three nodes and the drones, each in a network namespace of its own.

    outside [air0] ==== RTT 20 ms ==== [air1] lan [to-control, to-node1...] ---- [eth0] control, node1, node2, node3

Drones are outside, at the nodes' own link. Pods have addresses of their node, and each node knows the way to those of
others. A service of type LoadBalancer has an address of the link (balancer.py).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Sequence
from typing import Any

from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A
from pqc_mav_sim.impairment.netns import Namespace
from pqc_mav_sim.impairment.process import LinkProcess, batch

CONTROL, OUTSIDE = "10.46.0.1", "10.46.0.100"
NODES = {f"node{at}": f"10.46.0.1{at}" for at in (1, 2, 3)}
PODS = {f"node{at}": f"10.46.{at}" for at in (1, 2, 3)}  # /24 each; .1 is the node's own
SERVICES, BALANCED = "10.47.0.0/16", "10.46.0.200-10.46.0.210"
API = f"https://{CONTROL}:6443"
RTT_MS = 20
_SETTINGS = ("ipv4/ip_forward=1", "bridge/bridge-nf-call-iptables=1", "ipv4/conf/all/rp_filter=0")

# Rules, sets and connections of the kernel, which a machine loses with its power, and the bridge of its pods.
_RESET = ("nft flush ruleset", "ipset destroy", "conntrack -F", "ip link delete pods")


class Network:
    """All namespaces; they go with this process, or with `close`."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._spaces: dict[str, Namespace] = {}
        try:
            for name in ("lan", "outside", "control", *NODES):
                self._spaces[name] = Namespace()
                self._stack.callback(self._spaces[name].close)
            self._link = LinkProcess((self["outside"], "air0"), (self["lan"], "air1"), seed=1)
            self._stack.callback(self._link.close)
            # It is that of all drones together, who have their own elsewhere: there is no rate that they could fill.
            self._link.impair({"delay_ms": RTT_MS / 2})
            self._configure()
        except BaseException:
            self.close()
            raise

    def __getitem__(self, name: str) -> Namespace:
        return self._spaces[name]

    def run(self, name: str, command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a program in a namespace until it ends, and keep what it says; `options` as of `subprocess.run`."""
        how = {"check": True, "capture_output": True, "text": True, **options}
        return self[name].call(lambda: subprocess.run(command, **how))

    def _configure(self) -> None:
        here = f"/proc/{os.getpid()}/fd"
        ends = {"control": CONTROL, **NODES}
        lan = [
            "link add lan type bridge stp_state 0",
            "link set air1 master lan",
            "link set air1 up",
            "link set lan up",
        ]
        for name in ends:
            lan.append(f"link add to-{name} type veth peer name eth0 netns {here}/{self[name].descriptor}")
            lan += [f"link set to-{name} master lan", f"link set to-{name} up"]
        batch(self["lan"].call, lan)
        for name, device, address in (("outside", "air0", OUTSIDE), *((name, "eth0", ends[name]) for name in ends)):
            lines = ["link set lo up", f"addr add {address}/24 dev {device}", f"link set {device} up"]
            lines += [f"route add {PODS[node]}.0/24 via {NODES[node]}" for node in NODES if node != name]
            lines += [f"route add default via {OUTSIDE}"] if name in NODES else []
            batch(self[name].call, lines)
        for name in NODES:
            for setting, value in (each.split("=") for each in _SETTINGS):
                self._set(name, setting, value)

    def _set(self, name: str, setting: str, value: str) -> None:
        # By a separate process: the setting is that of the namespace in which the file is opened.
        self.run(name, ["sh", "-c", f"echo {value} > /proc/sys/net/{setting}"])

    def lost(self) -> int:
        """Frames that the laboratory's own link has lost, which nothing of what is measured answers for."""
        ways = self._link.counters()
        return sum(sum(kinds.values()) for way in (A_TO_B, B_TO_A) for kinds in ways[way]["lost"].values())

    def reset(self, node: str) -> None:
        """A node's network as it is when the node is switched on."""
        for words in _RESET:
            self.run(node, words.split(), check=False)

    def close(self) -> None:
        """Give everything back."""
        self._stack.close()
