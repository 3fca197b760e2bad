# SPDX-License-Identifier: Apache-2.0
"""The laboratory's network: a drone, a gcs and a stranger, each in a network namespace, and the bad link in between.

    drone [air0] ==== the link ==== [air1] hub [to-gcs] ---- [eth0] gcs
                                           [to-stranger] --- [eth0] stranger

The hub is the gcs' segment: a bridge with fixed forwarding, so that nothing but the tunnel decides where packets go.
Neighbours are fixed too: with 30 % loss or a cut link, address resolution would be measured instead of the tunnel.
The namespaces have no names and live as long as this process: nothing can be left over.
"""

from __future__ import annotations

import os
import socket
import subprocess
from contextlib import ExitStack

from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A
from pqc_mav_sim.impairment.netns import Namespace
from pqc_mav_sim.impairment.process import LinkProcess, batch, refusal
from pqc_mav_sim.impairment.process import NetworkError as AirError

__all__ = ["A_TO_B", "B_TO_A", "Air", "AirError", "Namespace", "batch", "need_root"]

GCS, DRONE, DRONE_MOVED, STRANGER = "10.77.0.1", "10.77.0.2", "10.77.0.3", "10.77.0.66"
STRANGER_MORE = [f"10.77.1.{i}" for i in range(1, 65)]
PREFIX = 16
MACS = {GCS: "02:00:00:00:00:01", DRONE: "02:00:00:00:00:02", STRANGER: "02:00:00:00:00:66"}
_ETH_P_ALL = 3
_SO_RCVBUFFORCE = 33


def need_root() -> str:
    """Return why this machine cannot run the laboratory, in one line; empty when it can."""
    return refusal({"ip": "iproute2", "bridge": "iproute2"})


class Air(ExitStack):
    """The four namespaces and the link; a context manager."""

    def __init__(self, *, seed: int = 1, mtu: int = 1500, nat: bool = False) -> None:
        super().__init__()
        self._spaces: dict[str, Namespace] = {}
        self._addresses = (DRONE, DRONE_MOVED)  # the drone's, and the one it moves to
        try:
            for name in ("drone", "hub", "gcs", "stranger"):
                self._spaces[name] = Namespace()
                self.callback(self._spaces[name].close)
            self.joint = LinkProcess((self["drone"], "air0"), (self["hub"], "air1"), seed=seed, nat=nat)
            self.callback(self.joint.close)
            self._configure(mtu)
        except BaseException:
            self.close()
            raise

    def __getitem__(self, name: str) -> Namespace:
        return self._spaces[name]

    def _configure(self, mtu: int) -> None:
        for space in self._spaces.values():
            self._write(space, "ipv6/conf/all/disable_ipv6", "1")
            self._write(space, "ipv6/conf/default/disable_ipv6", "1")
        self._write(self["drone"], "ipv4/conf/all/promote_secondaries", "1")
        here = f"/proc/{os.getpid()}/fd"
        batch(
            self["hub"].call,
            [
                f"link add to-gcs mtu {mtu} type veth peer name eth0 mtu {mtu} netns {here}/{self['gcs'].descriptor}",
                f"link add to-stranger mtu {mtu} type veth peer name eth0 mtu {mtu} "
                f"netns {here}/{self['stranger'].descriptor}",
                f"link set air1 mtu {mtu}",
                "link add hub type bridge stp_state 0 mcast_snooping 0",
                *(f"link set {port} master hub" for port in ("air1", "to-gcs", "to-stranger")),
                *(f"link set {port} up" for port in ("air1", "to-gcs", "to-stranger", "hub")),
            ],
        )
        ports = {GCS: "to-gcs", DRONE: "air1", STRANGER: "to-stranger"}
        batch(
            self["hub"].call,
            [
                *(f"link set dev {port} learning off flood off mcast_flood off" for port in ports.values()),
                *(f"fdb replace {MACS[address]} dev {port} master static" for address, port in ports.items()),
            ],
            "bridge",
        )
        for name, device, address, more in (
            ("drone", "air0", DRONE, []),
            ("gcs", "eth0", GCS, []),
            ("stranger", "eth0", STRANGER, STRANGER_MORE),
        ):
            neighbours = {a: mac for a, mac in {**MACS, DRONE_MOVED: MACS[DRONE]}.items() if mac != MACS[address]}
            neighbours |= dict.fromkeys(STRANGER_MORE, MACS[STRANGER]) if name != "stranger" else {}
            batch(
                self[name].call,
                [
                    "link set lo up",
                    f"link set {device} address {MACS[address]} mtu {mtu} up",
                    *(f"addr add {each}/{PREFIX} dev {device}" for each in (address, *more)),
                    *(f"neigh replace {a} lladdr {mac} dev {device} nud permanent" for a, mac in neighbours.items()),
                ],
            )

    @staticmethod
    def _write(space: Namespace, setting: str, value: str) -> None:
        path = f"/proc/sys/net/{setting}"

        def write() -> None:
            # by a separate process: the setting is that of the namespace in which the file is opened
            subprocess.run(["sh", "-c", f"[ ! -e {path} ] || echo {value} > {path}"], check=True)

        space.call(write)

    def move_drone(self) -> None:
        """Give the drone its other address; the old one is gone."""
        old, new = self._addresses
        batch(self["drone"].call, [f"addr add {new}/{PREFIX} dev air0", f"addr del {old}/{PREFIX} dev air0"])
        self._addresses = (new, old)

    def overheard(self) -> socket.socket:
        """A packet socket that sees every frame between link and hub, both ways: the air is not private."""

        def make() -> socket.socket:
            ears = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
            ears.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 8 << 20)
            ears.bind(("air1", 0))
            return ears

        return self["hub"].call(make)
