# SPDX-License-Identifier: Apache-2.0
"""OpenVPN between two machines: TLS with certificates known by their fingerprints, over UDP, without the kernel's help.

It pings every second and starts anew after 5 s of silence: its own manual's 10 and 60 s would measure the setting.
"""

from peers import certificates, programs
from peers.ends import PORT, TUN_ADDRESS, System, TunEnds
from peers.room import ADDRESS, DRONE, GROUND, SIDES

DEVICE = "tun0"
_RENEW_S = 10
_RENEWED = "TLS: soft reset"


class OpenVpn(TunEnds):
    """A TLS server on the ground and a TLS client on the drone."""

    _renew_s = 0

    def prepare(self) -> None:
        """Make a self-signed certificate for each end."""
        self.fingerprint = {side: certificates.make(self.folder, side) for side in SIDES}

    def arguments(self, side: str) -> list[str]:
        """The command line of one end."""
        other = GROUND if side == DRONE else DRONE
        where = (
            ["--tls-server", "--dh", "none", "--lport", str(PORT), "--local", ADDRESS[GROUND]]
            if side == GROUND
            else ["--tls-client", "--remote", ADDRESS[GROUND], str(PORT), "--nobind"]
        )
        return [
            *("--dev", DEVICE, "--dev-type", "tun", "--proto", "udp4", "--disable-dco", "--verb", "3"),
            *("--cert", str(self.folder / f"{side}.crt"), "--key", str(self.folder / f"{side}.key")),
            *("--peer-fingerprint", self.fingerprint[other], "--data-ciphers", "AES-256-GCM"),
            *("--ifconfig", TUN_ADDRESS[side], TUN_ADDRESS[other], "--keepalive", "1", "5"),
            *("--persist-tun", "--persist-key", "--reneg-sec", str(self._renew_s)),
            *where,
        ]

    def start(self, side: str) -> None:
        """Start one end; the ground's has its port open when this returns."""
        self.run(side, *programs.unpacked("openvpn", *self.arguments(side)))
        if side == GROUND:
            self.wait_for_port(GROUND, PORT)

    def renew_often(self) -> None:
        """Renegotiate every few seconds from the next start on."""
        self._renew_s = _RENEW_S

    def keys(self) -> str:
        """How often the drone's end has begun to renegotiate."""
        return str(self.output(DRONE).count(_RENEWED))


SYSTEMS = [
    System(
        "openvpn", "OpenVPN",
        f"Debian's openvpn {programs.PACKAGES['openvpn']}; TLS 1.3, ECDSA P-256, AES-256-GCM; --keepalive 1 5, no DCO",
        OpenVpn, lambda: programs.missing("openvpn"),
    )
]  # fmt: skip
