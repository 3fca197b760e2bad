# SPDX-License-Identifier: Apache-2.0
"""rosenpass beside boringtun: a post-quantum key exchange that gives WireGuard its pre-shared key every two minutes.

boringtun starts without a peer; each rosenpass adds it with the first key it agreed on, by Debian's `wg`, as its manual
says. So nothing is sent before the key is post-quantum.
"""

from functools import partial
from pathlib import Path

from peers import programs
from peers.ends import PORT, TUN_ADDRESS, System
from peers.figures import FIGURES
from peers.room import ADDRESS, DRONE, GROUND, SIDES
from peers.wireguard import BORINGTUN, DEVICE, KEEPALIVE_S, MTU, WireGuard, settings

ROSENPASS_PORT = PORT + 1


class Rosenpass(WireGuard):
    """Two boringtun and two rosenpass."""

    def prepare(self) -> None:
        """Make both kinds of keys."""
        super().prepare()
        for side in SIDES:
            public, secret = (str(self.folder / f"{side}.{kind}") for kind in ("pqpk", "pqsk"))
            programs.ask(*programs.unpacked("rosenpass"), "gen-keys", "--public-key", public, "--secret-key", secret)

    def start(self, side: str) -> None:
        """Start boringtun, then rosenpass in the same room, where `wg` finds the interface."""
        self.start_device(side)
        self.request(side, settings(self.private[side], PORT))
        self.address(side, DEVICE, MTU)
        other = GROUND if side == DRONE else DRONE
        listen = ["listen", f"{ADDRESS[side]}:{ROSENPASS_PORT}"]
        there = ["endpoint", f"{ADDRESS[GROUND]}:{ROSENPASS_PORT}"] if side == DRONE else []
        more = ["endpoint", f"{ADDRESS[GROUND]}:{PORT}", "persistent-keepalive", str(KEEPALIVE_S)]
        command = [
            *("exchange", "public-key", f"{self.folder}/{side}.pqpk", "secret-key", f"{self.folder}/{side}.pqsk"),
            *(*listen, "peer", "public-key", f"{self.folder}/{other}.pqpk", *there),
            *("wireguard", DEVICE, self.public[other], "allowed-ips", f"{TUN_ADDRESS[other]}/32"),
            *(more if side == DRONE else []),
        ]
        inside = ["nsenter", "--target", str(self.processes[side][0].pid), "--mount"]
        path = f"PATH={Path(programs.path('wg')).parent}:/usr/bin:/bin"
        self.run(side, *inside, "env", path, *programs.unpacked("rosenpass", *command), own_run=False)
        if side == GROUND:
            self.wait_for_port(GROUND, ROSENPASS_PORT)


_AS_BORINGTUN = "packets go through boringtun as above"
SYSTEMS = [
    System(
        "rosenpass", "rosenpass + boringtun",
        f"rosenpass {programs.ROSENPASS} (Classic McEliece 460896, Kyber-512) and boringtun-cli {programs.BORINGTUN}",
        partial(Rosenpass, command=BORINGTUN),
        lambda: programs.missing("rosenpass", "boringtun-cli", "wg"),
        dict.fromkeys((each.key for each in FIGURES if each.part in ("rate", "delay")), _AS_BORINGTUN),
    )
]  # fmt: skip
