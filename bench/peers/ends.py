# SPDX-License-Identifier: Apache-2.0
"""What every system under test is to the measurements: two ends that can be started, killed, and sent through."""

import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from peers.room import DRONE, GROUND, SIDES, Room

#: Where applications stand with a system that is two proxies.
PROXY_ENTRY, PROXY_EXIT, PROXY_SENDER = "127.0.0.1:14590", "127.0.0.1:14550", "127.0.0.1:14999"
#: And with a system that is a network interface.
TUN_ADDRESS = {DRONE: "10.99.0.2", GROUND: "10.99.0.1"}
PORT = 46011  # UDP port of the ground's encrypted side


class Ends(ABC):
    """A drone's and a ground station's end in a room. An application sends to `entry`, another listens at `exit`."""

    entry, exit, sender = PROXY_ENTRY, PROXY_EXIT, PROXY_SENDER

    def __init__(self, room: Room, folder: Path) -> None:
        self.room = room
        self.folder = folder
        self.processes: dict[str, list[subprocess.Popen[bytes]]] = {side: [] for side in SIDES}
        self.prepare()

    def prepare(self) -> None:  # noqa: B027 - most have keys to make, some have nothing
        """Make keys and files, once, before anything is timed."""

    @abstractmethod
    def start(self, side: str) -> None:
        """Start one end; the ground's is ready for the drone when this returns."""

    def run(self, side: str, *command: str, own_run: bool = True) -> subprocess.Popen[bytes]:
        """Start a process of this end; its output goes to a file in the folder."""
        with (self.folder / f"{side}-{len(self.processes[side])}.log").open("ab") as log:
            process = self.room.spawn(side, command, own_run, stdout=log, stderr=log)
        self.processes[side].append(process)
        return process

    def pids(self, side: str | None = None) -> list[int]:
        """Of the processes of one end, or of both."""
        return [p.pid for each in ((side,) if side else SIDES) for p in self.processes[each]]

    def kill(self, side: str) -> None:
        """As `kill -9` does, all processes of an end."""
        for process in self.processes[side]:
            process.send_signal(signal.SIGKILL)
        for process in self.processes[side]:
            process.wait()
        self.processes[side] = []

    def renew_often(self) -> None:  # noqa: B027 - some have intervals that cannot be set
        """Have the next start change the keys every few seconds, where that can be set."""

    def keys(self) -> str:
        """Something that changes when the keys in use change, as the system itself says."""
        raise NotImplementedError

    def output(self, side: str) -> str:
        """All that this end's processes wrote."""
        return "\n".join(file.read_text(errors="replace") for file in sorted(self.folder.glob(f"{side}-*.log")))

    def wait_for_port(self, side: str, port: int, deadline_s: float = 20.0) -> None:
        """Wait until one of this end's processes has bound that UDP port; RuntimeError when it does not."""
        ending = f":{port:04X}"
        process = self.processes[side][-1]
        end = time.monotonic() + deadline_s
        while time.monotonic() < end and process.poll() is None:
            lines = Path(f"/proc/{process.pid}/net/udp").read_text().splitlines()[1:]
            # The namespace is this end's own; before it enters it, the process is where we are.
            if self._is_inside(process.pid, side) and any(line.split()[1].endswith(ending) for line in lines):
                return
            time.sleep(0.002)
        raise RuntimeError(f"{process.args!r} did not open UDP port {port}: {self.output(side)[-400:].strip()}")

    def _is_inside(self, pid: int, side: str) -> bool:
        return Path(f"/proc/{pid}/ns/net").stat().st_ino == Path(self.room.path(side)).stat().st_ino


class TunEnds(Ends):
    """Ends that are network interfaces: the application addresses the other end's interface."""

    entry = exit = f"{TUN_ADDRESS[GROUND]}:14550"
    sender = f"{TUN_ADDRESS[DRONE]}:14999"

    def address(self, side: str, device: str, mtu: int) -> None:
        """Give the interface its address and bring it up."""
        other = GROUND if side == DRONE else DRONE
        self.room.ip(
            side,
            f"addr add {TUN_ADDRESS[side]} peer {TUN_ADDRESS[other]} dev {device}",
            f"link set {device} mtu {mtu} up",
        )


@dataclass(frozen=True)
class System:
    """One of the systems that are compared.

    Attributes:
        key: name in the data.
        title: name on the page.
        what: version and settings, for the page.
        make: prepares the ends; nothing runs yet.
        missing: why it cannot run here, or an empty text.
        no: for figures that it cannot give, why.
    """

    key: str
    title: str
    what: str
    make: Callable[[Room, Path], Ends]
    missing: Callable[[], str] = lambda: ""
    no: dict[str, str] = field(default_factory=dict)
