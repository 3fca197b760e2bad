# SPDX-License-Identifier: Apache-2.0
"""Ports and ROS domains that are not in use, so that a demo can run next to a real system and to other demos."""

import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from pqc_mav_common.socket_table import PROC, bound_sockets

# Below the range from which the kernel serves port 0 (net.ipv4.ip_local_port_range, 32768 and up by default): a port
# found free here is not handed to a program that asks for any port before it is used.
FIRST, LAST = 20400, 32000
TRIES = 200
# RTPS 2.3 section 9.6.1.1: domain d has the 250 ports from 7400 + 250 d on. Participants announce themselves to several
# of them, whoever listens there: a plaintext port among them would take an announcement for its application. So the
# domains given out here end below the ports given out here.
_DISCOVERY_BASE, _DISCOVERY_GAIN = 7400, 250
DOMAINS = range(1, 52)
# Where ament's domain_coordinator, and with it every ROS test, holds a domain: a TCP port for each.
_HOLDING_BASE = 32768


def is_free(port: int) -> bool:
    """Whether both TCP and UDP can be bound to `port`."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True


def free_ports(count: int) -> list[int]:
    """`count` different free ports. Raises OSError when there are none."""
    found: list[int] = []
    for _ in range(TRIES):
        port = random.randint(FIRST, LAST)
        if port not in found and is_free(port):
            found.append(port)
        if len(found) == count:
            return found
    raise OSError(f"no {count} free ports between {FIRST} and {LAST}")


def free_port() -> int:
    """One free port."""
    return free_ports(1)[0]


def free_domain() -> int:
    """A ROS_DOMAIN_ID in which nothing on this machine listens; any when all are taken."""
    used = {sock.port for sock in bound_sockets(PROC / "self") if sock.protocol == "UDP"}
    free = [domain for domain in DOMAINS if _DISCOVERY_BASE + _DISCOVERY_GAIN * domain not in used]
    return random.choice(free or list(DOMAINS))


@contextmanager
def own_run_folder() -> Iterator[dict[str, str]]:
    """A folder for the control sockets of engines that are to stay among themselves: the variable that names it."""
    # A short one: the path of a socket has 107 characters at most.
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as folder:
        yield {"PQCMAV_RUN_DIR": folder}


@contextmanager
def held_domain() -> Iterator[int]:
    """A free ROS_DOMAIN_ID, reserved against others who reserve one in this way and against ROS' own tests.

    A domain that is taken but still silent looks free to `free_domain`: two demos would then hear each other.
    """
    for _ in range(TRIES):
        domain = free_domain()
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as holder:
            try:
                holder.bind(("", _HOLDING_BASE + domain))
            except OSError:
                continue
            yield domain
            return
    raise OSError("every ROS domain is taken")
