# SPDX-License-Identifier: Apache-2.0
"""PQC-MAV itself: two pqcmav-tunneld with the default suite, with UDP GSO/GRO (the default) and without."""

import json
import socket
from functools import partial
from pathlib import Path

import rig

from peers.ends import PORT, PROXY_ENTRY, PROXY_EXIT, Ends, System
from peers.room import ADDRESS, DRONE, GROUND, Room, own_run_of
from pqc_mav_common import two_ends

SUITE = "cs-mlkem768-aesgcm-mldsa65"
_REKEY_S = 10.0


class Tunnel(Ends):
    """Ends with fresh keys."""

    def __init__(self, room: Room, folder: Path, *, gso: bool) -> None:
        self.gso = gso
        self.rekey_interval_s = 0.0
        super().__init__(room, folder)

    def prepare(self) -> None:
        """Make the keys."""
        import pqc_mav_tunnel

        pqc_mav_tunnel.init_keys(str(self.folder), ["bench"], [pqc_mav_tunnel.find_suite(SUITE).sig_token, "mldsa65"])

    def start(self, side: str) -> None:
        """Start one end; the ground's has its port open when this returns."""
        _, exit_port = rig.place(PROXY_EXIT)
        common = {"gso": self.gso, "bind": ADDRESS[side]}
        if side == GROUND:
            config = two_ends.gcs_config(self.folder, {"bench": exit_port}, data_port=PORT, **common)
        else:
            config = two_ends.drone_config(
                self.folder, "bench", PORT, peer=ADDRESS[GROUND], suite=SUITE, plain_bind=PROXY_ENTRY,
                rekey_interval_s=self.rekey_interval_s, **common,
            )  # fmt: skip
        path = two_ends.write(self.folder / f"{side}.yaml", config)
        self.run(side, rig.tool("pqcmav-tunneld"), str(path))
        if side == GROUND:
            self.wait_for_port(GROUND, PORT)

    def renew_often(self) -> None:
        """Rekey every few seconds from the next start on."""
        self.rekey_interval_s = _REKEY_S

    def keys(self) -> str:
        """The drone's epoch, by its control socket."""
        path = own_run_of(self.processes[DRONE][0].pid) / "pqcmav" / "drone-bench.sock"
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(b'{"v": 1, "command": "status"}\n')
            answer = json.loads(client.makefile().readline())
        return str(answer["result"]["tunnels"][0]["epoch"])


_WHAT = "this tree; ML-KEM-768 + X25519, ML-DSA-65, AES-256-GCM; default settings"
SYSTEMS = [
    System("pqcmav", "PQC-MAV", _WHAT, partial(Tunnel, gso=True)),
    System("pqcmav_no_gso", "PQC-MAV without GSO", f"{_WHAT} but gso: false", partial(Tunnel, gso=False)),
]
