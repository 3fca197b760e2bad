# SPDX-License-Identifier: Apache-2.0
"""Where drones join: a ground, a drone and a thief on machines of their own, and all that the thief overhears.

The thief sits in the ground's segment and hears every frame of the air both ways (air.py). The machines are those of
the tutorials: `pqcmav invite` and `pqcmav join` run there as users run them.
"""

from __future__ import annotations

import contextlib
import select
import socket
import tempfile
from pathlib import Path

import attacks
from air import GCS, STRANGER, Air
from background import Background
from traffic import application_socket
from tutorial_machines import Machine, Program, until

PORT = 46021
DRONE_ID = "drone1"
_KEYS = f"~/.pqcmav/keys/drones/{DRONE_ID}"
_LONGEST_S = 120.0


class Recording(Background):
    """Every datagram to or from the invitation's port, from now on, as it was on the air."""

    def __init__(self, network: Air) -> None:
        self.flows: list[attacks.Flow] = []
        self._ears = network.overheard()
        self._begin()

    def _run(self) -> None:
        while not self._over.is_set():
            if select.select([self._ears], [], [], 0.05)[0]:
                flow = attacks.tunnel_flow(self._ears.recv(65_536), PORT)
                if flow is not None:
                    self.flows.append(flow)

    def close(self) -> None:
        """Stop listening; what was heard stays."""
        super().close()
        self._ears.close()


class Room(contextlib.ExitStack):
    """The three machines; a context manager that ends everything."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__()
        folder = Path(self.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-room-")))
        self.network = self.enter_context(Air(seed=seed))
        self.ground, self.drone, self.thief = (
            Machine(name, self.network[space], folder / name)
            for name, space in (("ground", "gcs"), ("drone", "drone"), ("thief", "stranger"))
        )
        for machine in (self.ground, self.drone, self.thief):
            self.callback(machine.stop)

    def record(self) -> Recording:
        """Begin to overhear; close it."""
        return Recording(self.network)

    def invite(self, *options: str) -> tuple[Program, str]:
        """An invitation that waits, and its line."""
        words = " ".join(("exec pqcmav invite", DRONE_ID, "--address", GCS, *options))
        program = self.ground.start("invite", words)
        until("the line of an invitation", lambda: any(line.startswith("PQJOIN") for line in list(program.lines)))
        return program, next(line for line in program.lines if line.startswith("PQJOIN"))

    def join(self, line: str, machine: Machine | None = None, *options: str) -> tuple[int, str]:
        """Join by a line; the exit code and the last sentence."""
        code, lines = (machine or self.drone).run(f"pqcmav join {' '.join(options)} {line} 2>&1", _LONGEST_S)
        return code, lines[-1] if lines else ""

    def fresh(self) -> None:
        """No invitation waits, and neither drone nor thief has keys."""
        if "invite" in self.ground.running:
            self.ground.stop("invite")
        for machine in (self.drone, self.thief):
            machine.run(f"rm -rf {_KEYS}")

    def keys_of(self, machine: Machine) -> dict[str, str]:
        """The key files of the drone that a machine has, or the ground has for it."""
        folder = machine.path(_KEYS)
        return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}

    def own_socket(self) -> socket.socket:
        """A UDP socket of the thief's."""
        made = self.thief.space.call(lambda: application_socket(host=STRANGER))
        made.setblocking(False)
        return made

    def own_wire(self) -> socket.socket:
        """By which the thief sends whole frames, from whatever address it likes."""
        return self.thief.space.call(_wire)


def _wire() -> socket.socket:
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    made.bind(("eth0", 0))
    return made


class Repeater(Background):
    """A thief that sends datagrams to the invitation's port, from its own address and from the drone's, until closed.

    `heard` is what came back to its own address, `spent` how many bytes it sent from there.
    """

    def __init__(self, room: Room, flows: list[attacks.Flow], pause_s: float = 0.002) -> None:
        self.sent = 0
        self.heard: list[bytes] = []
        self.spent = 0
        self._flows = flows
        self._socket, self._wire = room.own_socket(), room.own_wire()
        self._pause_s = pause_s
        self._begin()

    def _run(self) -> None:
        at = 0
        while not self._over.wait(self._pause_s):
            flows = [flow for flow in self._flows if flow.down]
            if flows:
                flow = flows[at % len(flows)]
                at += 1
                with contextlib.suppress(OSError):
                    self._socket.sendto(flow.payload, (GCS, PORT))
                    self.spent += len(flow.payload)
                    self._wire.send(flow.frame)
                    self.sent += 2
            with contextlib.suppress(OSError):
                self.heard.append(self._socket.recv(65_536))

    def close(self) -> None:
        """Stop."""
        super().close()
        self._socket.close()
        self._wire.close()
