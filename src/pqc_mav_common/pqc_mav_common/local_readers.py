# SPDX-License-Identifier: Apache-2.0
"""Which users of this machine may read a page that is served on loopback: the kernel says whose a connection is.

A port on loopback has no permissions as a file has. Both ends of a connection are sockets of this machine, though, and
the kernel's table of connections names the user who made each.
"""

import grp
import os
import pwd
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path

from pqc_mav_common.errors import ExitCode, ProcessError
from pqc_mav_common.socket_table import Address, place_of

NET = Path("/proc/self/net")
EVERYBODY = "everybody"
SCRAPERS = ("prometheus",)  # the user of Debian's package
_ESTABLISHED = "01"
ROOT = 0


def owner_of(peer: tuple[str, int], local: tuple[str, int], net: Path = NET) -> int | None:
    """The user whose socket is at `peer`, connected to ours at `local`; None where that cannot be told.

    Only one that is established counts, with an inode: the kernel shows sockets that were closed as root's.
    """
    wanted = _plain(peer[0]), peer[1], _plain(local[0]), local[1]
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (net / name).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] != _ESTABLISHED or fields[9] == "0":
                    continue
                (host, port), (other, other_port) = place_of(fields[1]), place_of(fields[2])
                if (_plain(host), port, _plain(other), other_port) == wanted:
                    return int(fields[7])
    return None


def _plain(host: str | Address) -> Address:
    """An IPv4 address that wears IPv6 clothes without them."""
    found = ip_address(host.partition("%")[0]) if isinstance(host, str) else host
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


class Readers:
    """Root, the user of this process, and those who are allowed by name."""

    def __init__(self, allowed: Sequence[str] = (), also: Sequence[str] = (), *, net: Path = NET) -> None:
        """`allowed`: names or numbers of users, of groups with an @ before, or EVERYBODY; raises ProcessError for one
        that there is not. `also`: users who count where they exist.
        """
        self._net = net
        self.everybody = EVERYBODY in allowed
        self._users = {ROOT, os.geteuid()}
        self._groups: set[int] = set()
        for name in allowed:
            if name.startswith("@"):
                self._groups.add(_number(name[1:], "group"))
            elif name != EVERYBODY:
                self._users.add(_number(name, "user"))
        for name in also:
            with suppress(KeyError):
                self._users.add(pwd.getpwnam(name).pw_uid)

    def refusal(self, peer: tuple[str, int], local: tuple[str, int]) -> str:
        """Why the one at the other end of this connection may not read, as one sentence; "" where they may."""
        if self.everybody:
            return ""
        user = owner_of(peer, local, self._net)
        if user is None:
            return (
                "It cannot be told which user of this machine asks: keep the connection open until the answer is there."
            )
        if user in self._users or not self._groups.isdisjoint(_groups_of(user) if self._groups else ()):
            return ""
        name = _name(user)
        return f"Not every user of this machine may read this: start it with '--allow {name}' where '{name}' shall."


def _number(name: str, kind: str) -> int:
    if name.isascii() and name.isdigit():
        return int(name)
    try:
        return pwd.getpwnam(name).pw_uid if kind == "user" else grp.getgrnam(name).gr_gid
    except KeyError:
        raise ProcessError(f"There is no {kind} '{name}' on this machine to be allowed.", ExitCode.CONFIG) from None


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def _groups_of(user: int) -> Sequence[int]:
    """As the machine's data base has them; a group that a user has been given since counts."""
    try:
        entry = pwd.getpwuid(user)
    except KeyError:
        return ()
    return os.getgrouplist(entry.pw_name, entry.pw_gid)
