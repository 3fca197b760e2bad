# SPDX-License-Identifier: Apache-2.0
"""Where processes listen, as the kernel tells: /proc/PID/net and the sockets among /proc/PID/fd."""

import ipaddress
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TABLES = (("UDP", "udp"), ("UDP", "udp6"), ("TCP", "tcp"), ("TCP", "tcp6"))
# include/net/tcp_states.h; of UDP sockets, 7 are unconnected. A connected one hears its peer alone.
_HEARS_ANYBODY = {"UDP": "07", "TCP": "0A"}
_EPHEMERAL = (32768, 60999)  # the kernel's default


@dataclass(frozen=True)
class BoundSocket:
    """A socket that takes packets or connections from anybody who reaches its address."""

    protocol: str
    host: Address
    port: int
    inode: int
    use: str = ""  # what an engine says of its own: tunnel, plain or other

    @property
    def local(self) -> bool:
        """Whether only this machine reaches it."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        host = f"[{self.host}]" if self.host.version == 6 else str(self.host)
        return f"{self.protocol} {host}:{self.port}"


def is_loopback(host: Address) -> bool:
    """Also of an IPv4 address in IPv6 clothes."""
    mapped = host.ipv4_mapped if isinstance(host, ipaddress.IPv6Address) else None
    return (mapped or host).is_loopback


def own_network() -> str:
    """This process's network namespace, as the kernel calls it; "" where it does not say."""
    try:
        return str((PROC / "self/ns/net").readlink())
    except OSError:
        return ""


def bound_sockets(process: Path) -> Iterator[BoundSocket]:
    """All such sockets of the network namespace of a process (its folder in /proc). Raises OSError."""
    for protocol, name in _TABLES:
        table = process / "net" / name
        if not table.exists():
            continue  # no IPv6 here
        for line in table.read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] != _HEARS_ANYBODY[protocol]:
                continue
            host, port = place_of(fields[1])
            yield BoundSocket(protocol, host, port, int(fields[9]))


def place_of(text: str) -> tuple[Address, int]:
    """Address and port as the kernel's tables have them."""
    host, port = text.split(":")
    # The kernel prints the address as 32-bit numbers in its own byte order.
    words = [int(host[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(host), 8)]
    return ipaddress.ip_address(b"".join(words)), int(port, 16)


def own_sockets(process: Path) -> set[int]:
    """The inodes of a process's sockets. Raises OSError where it may not be looked at."""
    found = set()
    for entry in (process / "fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:
            continue  # closed meanwhile
        if target.startswith("socket:["):
            found.add(int(target[len("socket:[") : -1]))
    return found


def ephemeral_ports(proc: Path = PROC) -> range:
    """The ports that the kernel gives to sockets which did not ask for one."""
    try:
        first, last = (proc / "sys/net/ipv4/ip_local_port_range").read_text().split()
        return range(int(first), int(last) + 1)
    except (OSError, ValueError):
        return range(_EPHEMERAL[0], _EPHEMERAL[1] + 1)
