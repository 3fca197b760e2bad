# SPDX-License-Identifier: Apache-2.0
"""Where a system listens beyond its machine, and what of that is meant: the tunnel, DDS, addresses allowed by name."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pqc_mav_common import dds_sockets
from pqc_mav_common.diagnostics import Diagnostic, Level
from pqc_mav_common.siblings import Sibling
from pqc_mav_common.socket_table import PROC, BoundSocket, bound_sockets, own_sockets

CURE = "bind it to 127.0.0.1"


@dataclass
class Exposure:
    """Sockets beyond loopback, each as a text that names process and address."""

    processes: int = 0
    open: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)  # open, of a mavros that was not started with us
    allowed: list[str] = field(default_factory=list)
    dds: list[str] = field(default_factory=list)  # DDS listens there
    dds_senders: int = 0  # from these DDS only sends
    unseen: list[str] = field(default_factory=list)  # processes that may not be looked at

    def diagnostic(self) -> Diagnostic:
        """What `/diagnostics` says of it."""
        values = {
            "processes": self.processes,
            "open": "; ".join(self.open),
            "open_of_others": "; ".join(self.foreign),
            "allowed": "; ".join(self.allowed),
            "dds": "; ".join(self.dds),
            "dds_senders": self.dds_senders,
            "unseen": "; ".join(self.unseen),
        }
        warnings = (
            (self.foreign, f"a mavros that this system did not start is open to the network: {CURE}"),
            (self.allowed, "open to the network, as allowed"),
            (self.dds, "ROS is open to the network"),
            (self.unseen, "may not be looked at"),
        )
        said = [f"{', '.join(texts)}: {what}" for texts, what in warnings if texts]
        if self.open:
            level = Level.ERROR
            said.insert(0, f"DEGRADED: {', '.join(self.open)} is open to the network, past the tunnel: {CURE}")
        else:
            level = Level.WARN if said else Level.OK
        message = "; ".join(said) or f"{self.processes} processes listen on this machine only, but for the tunnel"
        return Diagnostic("sockets", level, message, values)


def look(
    processes: Iterable[Sibling],
    domain: int,
    allowed: Collection[str] = (),
    listed: Mapping[int, Collection[BoundSocket]] | None = None,
) -> Exposure:
    """What these processes hold open; `allowed` are addresses that may be. What engines say of their own processes is
    `listed`: nobody else may look into those, or knows what their sockets are for.
    """
    listed = listed or {}
    found = Exposure()
    tables: dict[str, list[BoundSocket]] = {}
    for process in processes:
        folder = PROC / str(process.pid)
        try:
            held = listed[process.pid] if process.pid in listed else _held(folder, tables)
            its_domain = domain if process.ours else _domain(folder)
        except FileNotFoundError:
            continue  # ended meanwhile
        except OSError:
            found.unseen.append(str(process))
            continue
        found.processes += 1
        found.allowed += [f"{process}: {sock}" for sock in held if sock.use == "plain" and not sock.local]
        # Without the engine's, or one of them would count as a socket from which DDS sends. What is on loopback is
        # looked at too: participants of DDS are counted by it.
        listening, sending, others = dds_sockets.split(
            (sock for sock in held if sock.use not in ("tunnel", "plain")), its_domain
        )
        found.dds += [f"{process}: {sock}" for sock in listening if not sock.local]
        found.dds_senders += sum(not sock.local for sock in sending)
        for sock in others:
            if sock.local:
                continue
            may = str(sock.host) in allowed
            place = found.allowed if may else found.open if process.ours else found.foreign
            place.append(f"{process}: {sock}")
    for texts in (found.open, found.foreign, found.allowed, found.dds, found.unseen):
        texts.sort()
    return found


def _held(process: Path, tables: dict[str, list[BoundSocket]]) -> list[BoundSocket]:
    """As the kernel says, whose `tables` are kept by network namespace. Raises OSError."""
    space = str((process / "ns" / "net").readlink())
    if space not in tables:
        tables[space] = list(bound_sockets(process))
    inodes = own_sockets(process)
    return [sock for sock in tables[space] if sock.inode in inodes]


def _domain(process: Path) -> int:
    """The ROS domain of one that was started elsewhere: by its ports its DDS is known. Raises OSError."""
    given = (word.partition(b"=") for word in (process / "environ").read_bytes().split(b"\0"))
    value = next((value for name, _, value in given if name == b"ROS_DOMAIN_ID"), b"")
    return int(value) if value.isdigit() else 0
