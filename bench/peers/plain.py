# SPDX-License-Identifier: Apache-2.0
"""The yardsticks: no tunnel at all, and two plain forwarders."""

import subprocess

import rig

from peers.ends import PORT, PROXY_ENTRY, PROXY_EXIT, Ends, System
from peers.figures import FIGURES
from peers.room import ADDRESS, DRONE, GROUND

_NO_KEYS = "it has no handshake"
_UNENCRYPTED = {"handshake_ms": _NO_KEYS, "handshake_bytes": _NO_KEYS, "rekey_lost": "it has no keys"}


class NoTunnel(Ends):
    """The application sends straight to the other machine."""

    entry = exit = f"{ADDRESS[GROUND]}:14550"
    sender = f"{ADDRESS[DRONE]}:14999"

    def start(self, side: str) -> None:
        """There is nothing to start."""


class Forwarders(Ends):
    """`plain_forwarder`, written with the engine's own batch classes, single datagrams, no encryption."""

    def start(self, side: str) -> None:
        """Start one end and wait until it is ready."""
        ground = side == GROUND
        plain = ["127.0.0.1:14551", PROXY_EXIT] if ground else [PROXY_ENTRY, "-"]
        air = [f"{ADDRESS[side]}:{PORT}", "-" if ground else f"{ADDRESS[GROUND]}:{PORT}"]
        ends = ["--plain", plain[0], "--plain-peer", plain[1], "--air", air[0], "--air-peer", air[1]]
        process = self.room.spawn(side, [rig.tool("plain_forwarder"), *ends], stdout=subprocess.PIPE)
        self.processes[side].append(process)
        assert process.stdout is not None
        if process.stdout.readline().strip() != b"ready":
            raise RuntimeError("plain_forwarder did not start")


_PROCESSES = [figure.key for figure in FIGURES if figure.part in ("cost", "loss", "recovery")]
_nobody = dict.fromkeys([*_PROCESSES, "start_ms"], "nothing runs")
SYSTEMS = [
    System("none", "no tunnel", "the application sends to the other machine", NoTunnel, no=_UNENCRYPTED | _nobody),
    System(
        "forwarder", "plain forwarders", "epoll, recvmmsg, sendmmsg; no encryption, no GSO", Forwarders, no=_UNENCRYPTED
    ),
]
