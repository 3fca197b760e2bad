# SPDX-License-Identifier: Apache-2.0
"""Two machines of one clock: two network namespaces, a drone's and a ground station's, and one link between them.

    drone [air0] ======== veth, or a lossy link ======== [air1] ground

The namespaces have no names and live as long as this process, and the processes in them end with it: nothing is left
over, however it ends. Neighbours are fixed, so that no address resolution is measured.
"""

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pqc_mav_common.child import start
from pqc_mav_common.waiting import wait_until
from pqc_mav_sim.impairment import netns
from pqc_mav_sim.impairment import process as network
from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A

DRONE, GROUND = "drone", "ground"
SIDES = (DRONE, GROUND)
ADDRESS = {DRONE: "10.213.78.2", GROUND: "10.213.78.1"}
DEVICE = {DRONE: "air0", GROUND: "air1"}
_MAC = {DRONE: "02:00:00:00:78:02", GROUND: "02:00:00:00:78:01"}
# What runs inside sees a folder for its sockets that nobody else sees and that goes with it.
_OWN_RUN = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh"]
_CARRIER_S = 20.0
T = TypeVar("T")


def refusal() -> str:
    """Why this machine cannot make such rooms, in one line; empty when it can."""
    return network.refusal({"ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux"})


class Room:
    """The two namespaces and the link; made by `room()`."""

    def __init__(self) -> None:
        self._spaces = {side: netns.Namespace() for side in SIDES}
        self._children: list[subprocess.Popen[bytes]] = []
        self._link: network.LinkProcess | None = None

    def path(self, side: str) -> str:
        """A file that stands for the namespace, for programs that enter it themselves."""
        return f"/proc/{os.getpid()}/fd/{self._spaces[side].descriptor}"

    def call(self, side: str, work: Callable[[], T]) -> T:
        """Run something there; sockets made there stay there."""
        return self._spaces[side].call(work)

    def ip(self, side: str, *lines: str) -> None:
        """`ip` commands; raises NetworkError with its own message."""

        network.batch(self._spaces[side].call, lines)

    def spawn(self, side: str, command: Sequence[str], own_run: bool = True, **options: Any) -> subprocess.Popen[bytes]:
        """Start a program there; the kernel kills it when this process ends. From the main thread only."""
        assert threading.current_thread() is threading.main_thread()
        descriptor = self._spaces[side].descriptor

        def inside() -> None:
            os.setpgrp()  # keeps Ctrl-C for the parent; one session keeps all in one group of the scheduler
            netns.enter(descriptor)

        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options
        whole = [*(_OWN_RUN if own_run else []), *command]
        child = start(whole, inside=inside, **options)
        self._children.append(child)
        return child

    def connect(self) -> None:
        """A pair of virtual Ethernet devices between the two."""
        peer = self._spaces[GROUND].descriptor
        ends = f"{DEVICE[DRONE]} type veth peer name {DEVICE[GROUND]} netns /proc/{os.getpid()}/fd/{peer}"
        self.ip(DRONE, f"link add {ends}")
        self._configure()

    def connect_lossy(self, loss: float, seed: int) -> None:
        """A link in user space that loses this share of the frames, each way.

        Not netem: many kernels of virtual machines come without it, and the figures should not depend on which it was.
        """
        ends = [(self._spaces[side], DEVICE[side]) for side in SIDES]
        self._link = network.LinkProcess(*ends, seed=seed)
        self._link.impair({"loss": loss})
        self._configure()

    def impair(self, settings: Mapping[str, Any], directions: Sequence[str] = (A_TO_B, B_TO_A)) -> None:
        """Change a lossy link's settings from now on; from the drone is the first direction."""
        assert self._link is not None
        self._link.impair(settings, directions)

    def _configure(self) -> None:
        for side, other in (SIDES, SIDES[::-1]):
            self.ip(
                side,
                "link set lo up",
                f"link set {DEVICE[side]} address {_MAC[side]} up",
                f"addr add {ADDRESS[side]}/24 dev {DEVICE[side]}",
                f"neigh replace {ADDRESS[other]} lladdr {_MAC[other]} dev {DEVICE[side]} nud permanent",
            )
        for side in SIDES:  # what is sent before is dropped
            if not wait_until(partial(self.call, side, partial(_carries, DEVICE[side])), _CARRIER_S):
                raise network.NetworkError(f"{DEVICE[side]} is not up after {_CARRIER_S:g} s")

    def close(self) -> None:
        """End what runs there and let go of the namespaces."""
        for child in self._children:
            with contextlib.suppress(OSError):
                child.kill()
        for child in self._children:
            child.wait()
            for stream in (child.stdin, child.stdout, child.stderr):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
        if self._link is not None:
            self._link.close()
        for space in self._spaces.values():
            space.close()


def _carries(device: str) -> bool:
    shown = subprocess.run(["ip", "-o", "link", "show", device], capture_output=True, check=False).stdout
    return b"LOWER_UP" in shown and b"state DOWN" not in shown


@contextlib.contextmanager
def room(loss: float | None = None, seed: int = 1) -> Iterator[Room]:
    """Two connected machines; over a link in user space where `loss` (0 to 1, each way) is given."""
    made = Room()
    try:
        if loss is None:
            made.connect()
        else:
            made.connect_lossy(loss, seed)
        yield made
    finally:
        made.close()


def own_run_of(pid: int) -> Path:
    """Where the /run of a process with one of its own is seen from here."""
    return Path("/proc", str(pid), "root", "run")
