# SPDX-License-Identifier: Apache-2.0
"""DTLS: two socat that carry datagrams between a UDP socket and a DTLS 1.2 connection, each checking the other."""

from peers import certificates, programs
from peers.ends import PORT, PROXY_ENTRY, PROXY_EXIT, PROXY_SENDER, Ends, System
from peers.room import ADDRESS, GROUND, SIDES


class Socat(Ends):
    """A DTLS server on the ground and a client on the drone."""

    def prepare(self) -> None:
        """Make a self-signed certificate for each end."""
        for side in SIDES:
            certificates.make(self.folder, side)

    def start(self, side: str) -> None:
        """Start one end; the ground's has its port open when this returns."""
        keys = f"cert={self.folder}/{side}.crt,key={self.folder}/{side}.key"
        if side == GROUND:
            plain = f"UDP4-DATAGRAM:{PROXY_EXIT},bind=127.0.0.1:14551"
            air = f"OPENSSL-DTLS-SERVER:{PORT},bind={ADDRESS[GROUND]},{keys},cafile={self.folder}/drone.crt,verify=1"
            self.run(side, *programs.unpacked("socat", air, plain))
            self.wait_for_port(GROUND, PORT)
        else:
            plain = f"UDP4-DATAGRAM:{PROXY_SENDER},bind={PROXY_ENTRY}"
            air = f"OPENSSL-DTLS-CLIENT:{ADDRESS[GROUND]}:{PORT},{keys},cafile={self.folder}/ground.crt,verify=1"
            self.run(side, *programs.unpacked("socat", air + ",commonname=ground", plain))


SYSTEMS = [
    System(
        "dtls", "DTLS (socat)",
        f"Debian's socat {programs.PACKAGES['socat']}, the system's OpenSSL; DTLS 1.2, ECDSA P-256, both ends checked",
        Socat, lambda: programs.missing("socat"),
        {
            "rekey_lost": "socat never changes keys",
            "recovery_s": "socat does not notice that its peer is gone; somebody has to start both anew",
        },
    )
]  # fmt: skip
