# SPDX-License-Identifier: Apache-2.0
"""nebula: two hosts of one certificate authority. The drone knows the ground's address; there is no lighthouse."""

import json

from peers import programs
from peers.ends import PORT, TUN_ADDRESS, System, TunEnds
from peers.room import ADDRESS, DRONE, GROUND, SIDES

DEVICE = "nebula0"
MTU = 1300


class Nebula(TunEnds):
    """Two hosts, each with a certificate that the authority signed."""

    def prepare(self) -> None:
        """Make the authority and both certificates."""
        tool, here = programs.path("nebula-cert"), self.folder
        programs.ask(tool, "ca", "-name", "bench", "-out-crt", f"{here}/ca.crt", "-out-key", f"{here}/ca.key")
        for side in SIDES:
            programs.ask(
                *(tool, "sign", "-ca-crt", f"{here}/ca.crt", "-ca-key", f"{here}/ca.key", "-name", side),
                *("-ip", f"{TUN_ADDRESS[side]}/24", "-out-crt", f"{here}/{side}.crt", "-out-key", f"{here}/{side}.key"),
            )

    def start(self, side: str) -> None:
        """Start one end; it has its port open when this returns."""
        anybody = [{"port": "any", "proto": "any", "host": "any"}]
        known = {TUN_ADDRESS[GROUND]: [f"{ADDRESS[GROUND]}:{PORT}"]} if side == DRONE else {}
        keys = {"ca": "ca.crt", "cert": f"{side}.crt", "key": f"{side}.key"}
        config = {
            "pki": {name: f"{self.folder}/{file}" for name, file in keys.items()},
            "static_host_map": known, "lighthouse": {"am_lighthouse": False},
            "listen": {"host": ADDRESS[side], "port": PORT}, "tun": {"dev": DEVICE, "mtu": MTU},
            "firewall": {"outbound": anybody, "inbound": anybody}, "logging": {"level": "warning"},
        }  # fmt: skip
        path = self.folder / f"{side}.yaml"
        path.write_text(json.dumps(config))  # JSON is YAML
        self.run(side, programs.path("nebula"), "-config", str(path))
        if side == GROUND:
            self.wait_for_port(side, PORT)


SYSTEMS = [
    System(
        "nebula", "nebula", f"nebula {programs.NEBULA}; X25519, AES-256-GCM; MTU {MTU}, no lighthouse",
        Nebula, lambda: programs.missing("nebula", "nebula-cert"),
        {"rekey_lost": "nebula changes keys only when a certificate changes"},
    )
]  # fmt: skip
