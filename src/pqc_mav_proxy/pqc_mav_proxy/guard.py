# SPDX-License-Identifier: Apache-2.0
"""Watches for ways around the tunnel: sockets of this machine open to the network, mavros nodes that share topics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from ipaddress import ip_address
from typing import Any

from pqc_mav_common.diagnostics import Diagnostic, Level
from pqc_mav_common.exposure import look
from pqc_mav_common.siblings import ALLOWED, MARK, Sibling, siblings
from pqc_mav_common.socket_table import BoundSocket, own_network
from pqc_mav_proxy.mavros_graph import MavrosGraph, links

LOOK_S = 10.0  # a look at 150 processes takes some 10 ms
AGAIN_S = 2.0  # while no engine is found, as at the start
NO_ENGINE = "pqc_proxy (no control socket)"
ELSEWHERE = "the programs in the network namespace of pqcmav-tunneld, which is another one"
LONGEST = 900  # characters of a danger: an engine takes 1,000 bytes each, and 4,096 of a whole request
# What engines say that their own processes hold, by process.
Listed = Mapping[int, Collection[BoundSocket]]


def sockets_of(listed: Iterable[Mapping[str, Any]]) -> list[BoundSocket]:
    """Those that an engine lists."""
    return [
        BoundSocket(each["protocol"], ip_address(each["host"]), each["port"], each["inode"], each["use"])
        for each in listed
    ]


class Guard:
    """Looks every LOOK_S and remembers what it saw. Times are seconds of a monotonic clock."""

    def __init__(
        self,
        environment: Mapping[str, str],
        domain: int,
        on_error: Callable[[str], None],
        writers: Callable[[], Iterable[tuple[str, Iterable[str]]]],
        find: Callable[[str, Collection[int]], Iterable[Sibling]] = siblings,
    ) -> None:
        """`on_error` is told an error once, when it appears or changes; `writers` are those of the ROS graph."""
        self._mark = environment.get(MARK, "")
        self._allowed = frozenset(filter(None, environment.get(ALLOWED, "").replace(" ", "").split(",")))
        self._domain = domain
        self._on_error = on_error
        self._writers = writers
        self._find = find
        self._graph = MavrosGraph()
        self._said = ""
        self._again_s = float("-inf")
        self._seen: list[Diagnostic] = []

    def diagnostics(self, now_s: float, ask: Callable[[], Listed], network: str = "") -> list[Diagnostic]:
        """What there is to say; `ask` is called when it looks. `network`: the engine's namespace, "" = this one."""
        if now_s >= self._again_s:
            listed = ask()
            self._again_s = now_s + (LOOK_S if listed else AGAIN_S)
            self._seen = [*self._sockets(listed, network), self._graph.diagnostic(now_s, links(self._writers()))]
            errors = "; ".join(dangers(self._seen))
            if errors and errors != self._said:
                self._on_error(errors)
            self._said = errors
        return self._seen

    def _sockets(self, listed: Listed, network: str) -> list[Diagnostic]:
        try:
            found = look(self._find(self._mark, listed), self._domain, self._allowed, listed)
        except OSError:
            return []  # no /proc here: nothing can be said
        if not listed:
            found.unseen.append(NO_ENGINE)
        if network not in ("", own_network()):
            found.unseen.append(ELSEWHERE)
        return [found.diagnostic()]


def dangers(found: Iterable[Diagnostic]) -> list[str]:
    """What of it endangers the link, a line each."""
    return [each.message for each in found if each.level is Level.ERROR]


def told(found: Iterable[str]) -> list[str]:
    """Dangers as an engine takes them: in ASCII, so that no character takes more than two bytes of JSON."""
    return [ascii(each)[1:-1][:LONGEST] for each in found]
