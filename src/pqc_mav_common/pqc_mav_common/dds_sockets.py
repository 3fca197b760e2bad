# SPDX-License-Identifier: Apache-2.0
"""Whether the middleware of this process listens to other machines.

ROS_AUTOMATIC_DISCOVERY_RANGE limits whom a node looks for, not who may talk to it: without a profile that says
otherwise DDS binds its sockets to every interface, and whoever knows the ports can call every service.
"""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Ports of a domain, by the RTPS specification (section 9.6.2.3, default values).
PORT_BASE, PORTS_PER_DOMAIN = 7400, 250
PROC = Path("/proc/self")


def exposed(domain: int, proc: Path = PROC) -> list[str]:
    """The addresses beyond loopback, as host:port, on which this process listens in the ports of a ROS domain."""
    first = PORT_BASE + PORTS_PER_DOMAIN * domain
    mine = own_sockets(proc)
    return sorted(
        f"[{host}]:{port}" if host.version == 6 else f"{host}:{port}"
        for inode, host, port in udp_sockets(proc)
        if inode in mine and first <= port < first + PORTS_PER_DOMAIN and not is_loopback(host)
    )


def is_loopback(host: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Also of an IPv4 address in IPv6 clothes."""
    mapped = host.ipv4_mapped if isinstance(host, ipaddress.IPv6Address) else None
    return (mapped or host).is_loopback


def warn_if_exposed(node: Any) -> None:
    """One line in the node's log when its middleware listens to other machines."""
    try:
        addresses = exposed(node.context.get_domain_id())
    except (OSError, ValueError):
        return  # no such files here: nothing can be said
    if addresses:
        node.get_logger().warning(
            f"ROS listens beyond this machine, at {', '.join(addresses)}: whoever reaches that can call this node's "
            "services. See FASTRTPS_DEFAULT_PROFILES_FILE in SECURITY.md."
        )


def own_sockets(proc: Path) -> set[int]:
    """The inodes of this process's sockets."""
    found = set()
    for entry in (proc / "fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:
            continue  # closed meanwhile
        if target.startswith("socket:["):
            found.add(int(target[len("socket:[") : -1]))
    return found


def udp_sockets(proc: Path) -> Iterator[tuple[int, ipaddress.IPv4Address | ipaddress.IPv6Address, int]]:
    """(inode, local address, local port) of every UDP socket of this network namespace."""
    for name in ("udp", "udp6"):
        table = proc / "net" / name
        if not table.exists():
            continue
        for line in table.read_text().splitlines()[1:]:
            fields = line.split()
            host, port = fields[1].split(":")
            # The kernel prints the address as 32-bit numbers in its own byte order.
            words = [int(host[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(host), 8)]
            yield int(fields[9]), ipaddress.ip_address(b"".join(words)), int(port, 16)
