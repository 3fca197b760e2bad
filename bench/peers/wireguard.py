# SPDX-License-Identifier: Apache-2.0
"""WireGuard in user space: boringtun (Rust) and wireguard-go. Both are steered by WireGuard's cross-platform interface.

The drone knows the ground's address and keeps the way open every 25 s; the ground learns where the drone is.
"""

import base64
import socket
import time
from functools import partial
from pathlib import Path

from peers import programs
from peers.ends import PORT, TUN_ADDRESS, System, TunEnds
from peers.room import ADDRESS, DRONE, GROUND, SIDES, Room, own_run_of

DEVICE = "wg0"
MTU = 1420
KEEPALIVE_S = 25
_NO_AGE_S = 1_000_000_000  # seconds since 1970 are more than that


def hexadecimal(key: str) -> str:
    """A key of `wg` (base64) as the interface takes it."""
    return base64.b64decode(key).hex()


def settings(private: str, port: int, peer: str = "", allowed: str = "", endpoint: str = "") -> str:
    """A request that sets keys and, where one is given, the peer; keys in base64."""
    lines = ["set=1", f"private_key={hexadecimal(private)}", f"listen_port={port}", "replace_peers=true"]
    if peer:
        lines += [f"public_key={hexadecimal(peer)}", f"allowed_ip={allowed}/32"]
    if peer and endpoint:
        lines += [f"endpoint={endpoint}", f"persistent_keepalive_interval={KEEPALIVE_S}"]
    return "\n".join(lines) + "\n\n"


def value_of(answer: str, name: str) -> str:
    """A value in an answer of the interface; empty when it is not there."""
    found = [line.split("=", 1)[1] for line in answer.splitlines() if line.startswith(f"{name}=")]
    return found[0] if found else ""


class WireGuard(TunEnds):
    """Two interfaces with a key pair each."""

    endpoint = f"{ADDRESS[GROUND]}:{PORT}"  # of the ground, for the drone

    def __init__(self, room: Room, folder: Path, *, command: tuple[str, ...]) -> None:
        self.command = command
        self._last = self._handshakes = 0
        super().__init__(room, folder)

    def prepare(self) -> None:
        """Make the keys."""
        self.private = {side: programs.ask(programs.path("wg"), "genkey") for side in SIDES}
        self.public = {side: programs.ask(programs.path("wg"), "pubkey", given=self.private[side]) for side in SIDES}

    def request(self, side: str, text: str) -> str:
        """Ask the interface of one end; raises RuntimeError when it refuses."""
        path = own_run_of(self.processes[side][0].pid) / "wireguard" / f"{DEVICE}.sock"
        end = time.monotonic() + 10
        while True:
            try:
                with socket.socket(socket.AF_UNIX) as client:
                    client.settimeout(10)
                    client.connect(str(path))
                    client.sendall(text.encode())
                    answer = ""
                    while "errno=" not in answer:
                        answer += client.recv(65536).decode()
                break
            except (FileNotFoundError, ConnectionRefusedError):
                if time.monotonic() > end:
                    raise RuntimeError(f"no interface {DEVICE}: {self.output(side)[-400:]}") from None
                time.sleep(0.001)
        if value_of(answer, "errno") != "0":
            raise RuntimeError(f"{DEVICE} ({side}) refused its settings: {answer.strip()}")
        return answer

    def start(self, side: str) -> None:
        """Start the program and set its keys, its peer and its address."""
        self.start_device(side)
        other = GROUND if side == DRONE else DRONE
        endpoint = self.endpoint if side == DRONE else ""
        self.request(side, settings(self.private[side], PORT, self.public[other], TUN_ADDRESS[other], endpoint))
        self.address(side, DEVICE, MTU)

    def start_device(self, side: str) -> None:
        """Start the program alone."""
        self.run(side, *self.command, DEVICE)

    def keys(self) -> str:
        """How many handshakes the drone's end is known to have made.

        wireguard-go says when the last one was; boringtun how many seconds ago, which falls at a handshake.
        """
        now = int(value_of(self.request(DRONE, "get=1\n\n"), "last_handshake_time_sec") or 0)
        is_age = now < _NO_AGE_S
        if now < self._last if is_age else now != self._last:
            self._handshakes += 1
        self._last = now
        return str(self._handshakes)


# As root without a login there is nobody's name to take on.
BORINGTUN = (programs.path("boringtun-cli"), "--foreground", "--disable-drop-privileges")


def _system(key: str, program: str, what: str) -> System:
    make = partial(WireGuard, command=BORINGTUN if program == "boringtun-cli" else (programs.path(program), "-f"))
    return System(key, key.replace("_", "-"), what, make, partial(programs.missing, program, "wg"))


SYSTEMS = [
    _system("boringtun", "boringtun-cli", f"boringtun-cli {programs.BORINGTUN}; X25519, ChaCha20-Poly1305; 4 threads"),
    _system("wireguard_go", "wireguard", f"wireguard {programs.WIREGUARD_GO}; X25519, ChaCha20-Poly1305"),
]
