# SPDX-License-Identifier: Apache-2.0
"""Both ends of a tunnel run by pqcmav-tunneld, and what goes through it: shared by the tests that start them.

Programs emulated by qemu take their time, hence the long limits.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# The system's own Python may run this, which has none of the workspace's packages installed.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src" / "pqc_mav_common"))

from pqc_mav_common.child import Program
from pqc_mav_common.child import ProgramError as TestError

HOST = "127.0.0.1"
LIMIT_S = 120.0
INSIDE = "PQCMAV_OWN_MOUNTS"
# Where an end takes plaintext, the drone by default and the gcs as these tests configure it, and where the ground hears
# it by default.
AT_DRONE, AT_GCS, GROUND = 14590, 14580, 14550
PLAIN_OF_GCS = f"drone.drone1.plain_bind: {HOST}:{AT_GCS}"
# In MAVLink 2, a vehicle's HEARTBEAT and a ground station's command to arm: the tunnel carries bytes.
UP = bytes.fromhex("fd09000000010100000000000403020c510303ae46")
DOWN = bytes.fromhex("fd20000000ffbe4c00000000803f000000000000000000000000000000000000000000000000900101019e4e")
# What an end prints of it; the group says under which suite and how long it took.
HANDSHAKE = r"\] handshake with \S+ (under .*)"


def check(good: bool, sentence: str) -> None:
    """Raise unless it is good."""
    if not good:
        raise TestError(sentence)


def with_own_mounts() -> None:
    """Start this program over where its mounts are nobody else's, unless it has been."""
    if INSIDE not in os.environ:
        own = {**os.environ, INSIDE: "1"}
        sys.exit(subprocess.call(["unshare", "--mount", sys.executable, *sys.argv], env=own))


class Daemon(Program):
    """A running pqcmav-tunneld and the lines it printed."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        super().__init__(name, command, limit_s=LIMIT_S, env=environment, stderr=subprocess.PIPE)

    def stop(self) -> None:
        """End it as a service manager does."""
        self.process.terminate()
        self.ends_well()

    def ends_well(self) -> None:
        """Wait for the end that it was asked for."""
        code = self.wait()
        check(code == 0, f"The {self.name} ended with {code} after SIGTERM; it said: {self.last_words()}")


def udp(port: int = 0, limit_s: float = LIMIT_S) -> socket.socket:
    """Open the socket of an application on loopback."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((HOST, port))
    sock.settimeout(limit_s)
    return sock


def carry(sender: socket.socket, port: int, receiver: socket.socket, data: bytes, what: str) -> None:
    """Send one datagram into a tunnel's end; it has to come out of the other as it was."""
    sender.sendto(data, (HOST, port))
    try:
        arrived = receiver.recv(4096)
    except TimeoutError:
        raise TestError(f"{what} did not arrive.") from None
    check(arrived == data, f"{what} arrived as {arrived!r}.")


def carry_messages(autopilot: socket.socket, ground: socket.socket) -> None:
    """A MAVLink message each way, the autopilot being at any port and the ground at its own."""
    carry(autopilot, AT_DRONE, ground, UP, "The vehicle's message")
    carry(ground, AT_GCS, autopilot, DOWN, "The ground station's command")
