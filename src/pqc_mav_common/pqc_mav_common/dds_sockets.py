# SPDX-License-Identifier: Apache-2.0
"""Which sockets the middleware of a process has, and whether it listens to other machines.

ROS_AUTOMATIC_DISCOVERY_RANGE limits whom a node looks for, not who may talk to it: without a profile that says
otherwise DDS binds its sockets to every interface, and whoever knows the ports can call every service.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from pqc_mav_common.socket_table import PROC, BoundSocket, bound_sockets, ephemeral_ports, own_sockets

# Ports of a domain, by the RTPS specification (section 9.6.2.3, default values).
PORT_BASE, PORTS_PER_DOMAIN = 7400, 250
UNICAST, PER_PARTICIPANT = 10, 2
# Fast DDS 2.14 also listens on the first free port from here on, in every domain.
FAST_DDS_PORTS = range(7000, PORT_BASE)


def exposed(domain: int) -> list[str]:
    """The addresses beyond loopback, as host:port, on which this process listens in the ports of a ROS domain."""
    first = PORT_BASE + PORTS_PER_DOMAIN * domain
    return _beyond_loopback("UDP", range(first, first + PORTS_PER_DOMAIN))


# What keeps a middleware's sockets to itself, by a part of its name.
CURES = {
    "fastrtps": "Name pqc_mav_bringup's fastdds_loopback.xml in FASTDDS_DEFAULT_PROFILES_FILE, on Jazzy in"
    " FASTRTPS_DEFAULT_PROFILES_FILE.",
    "cyclonedds": "Cyclone DDS binds to every interface, whatever it is told: close them in the firewall.",
    "zenoh": 'Zenoh listens where ZENOH_SESSION_CONFIG_URI says; its default is "tcp/localhost:0".',
}


class Split(NamedTuple):
    """One process's sockets: those on which DDS listens, those from which it only sends, the others."""

    listening: list[BoundSocket]
    sending: list[BoundSocket]
    others: list[BoundSocket]


def split(sockets: Iterable[BoundSocket], domain: int) -> Split:
    """Tells the sockets of DDS from the others.

    It listens on the ports that the specification gives to the participants of the process, counted by their even
    unicast port. To send, Fast DDS binds one socket per participant and address to a free port and never reads it:
    more than that many on one address cannot all be its own, and then none of them counts as such. Of FAST_DDS_PORTS
    the same holds.
    """
    sockets = list(sockets)
    first = PORT_BASE + PORTS_PER_DOMAIN * domain
    udp = [sock for sock in sockets if sock.protocol == "UDP"]
    unicast = {
        sock.port
        for sock in udp
        if first + UNICAST <= sock.port < first + PORTS_PER_DOMAIN
        and (sock.port - first - UNICAST) % PER_PARTICIPANT == 0
        and any(other.port == sock.port + 1 for other in udp)
    }
    if not unicast:
        return Split([], [], sockets)
    known = {first, first + 1, *unicast, *(port + 1 for port in unicast)}

    def few(ports: range) -> list[BoundSocket]:
        """Those with these ports, at most one per participant on each address."""
        found = [sock for sock in udp if sock.port in ports and sock.port not in known]
        per_address = Counter(sock.host for sock in found)
        return [sock for sock in found if per_address[sock.host] <= len(unicast)]

    listening = [*(sock for sock in udp if sock.port in known), *few(FAST_DDS_PORTS)]
    sending = few(ephemeral_ports())
    theirs = {sock.inode for sock in (*listening, *sending)}
    return Split(listening, sending, [sock for sock in sockets if sock.inode not in theirs])


def accepting() -> list[str]:
    """The addresses beyond loopback, as host:port, at which this process takes connections."""
    return _beyond_loopback("TCP", range(1 << 16))


def _beyond_loopback(protocol: str, ports: range) -> list[str]:
    process = PROC / "self"
    mine = own_sockets(process)
    found = (sock for sock in bound_sockets(process) if sock.inode in mine and sock.protocol == protocol)
    return sorted(str(sock).partition(" ")[2] for sock in found if sock.port in ports and not sock.local)


def warn_if_exposed(node: Any, middleware: str | None = None) -> None:
    """One line in the node's log when its middleware, by default the one in use, listens to other machines."""
    try:
        if middleware is None:
            from rclpy.utilities import get_rmw_implementation_identifier

            middleware = str(get_rmw_implementation_identifier())
        zenoh = "zenoh" in middleware  # it takes connections; of UDP in the ports of DDS it knows nothing
        addresses = accepting() if zenoh else exposed(node.context.get_domain_id())
    except (OSError, ValueError):
        return  # no such files here: nothing can be said
    if addresses:
        cure = next((text for name, text in CURES.items() if name in middleware), "Close them in the firewall.")
        node.get_logger().warning(
            f"ROS listens beyond this machine, at {', '.join(addresses)}: whoever reaches that can call this node's "
            f"services. {cure}"
        )
