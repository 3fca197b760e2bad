# SPDX-License-Identifier: Apache-2.0
"""Watches for ways around the tunnel: sockets of this machine open to the network, mavros nodes that share topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pqc_mav_common.diagnostics import Diagnostic, Level
from pqc_mav_common.exposure import Meant, look
from pqc_mav_common.siblings import ALLOWED, MARK, Sibling, siblings
from pqc_mav_proxy.mavros_graph import MavrosGraph, links

LOOK_S = 10.0  # a look at 150 processes takes some 10 ms


# How the engine names the endpoints at which it lets applications in.
_LISTENERS = {"udp-listen": "UDP", "tcp-listen": "TCP"}


def listeners(stats: Iterable[Mapping[str, Any]]) -> set[tuple[str, int]]:
    """Protocol and port of each of `plain_endpoints` that others may come to; beyond loopback only where the
    configuration allows it in so many words (`plain_allow_remote`).
    """
    found = set()
    for endpoint in (endpoint for tunnel in stats for endpoint in tunnel.get("endpoints", ())):
        kind, _, address = endpoint["name"].partition(":")
        port = address.rpartition(":")[2]
        if kind in _LISTENERS and port.isdigit():
            found.add((_LISTENERS[kind], int(port)))
    return found


class Guard:
    """Looks every LOOK_S and remembers what it saw. Times are seconds of a monotonic clock."""

    def __init__(
        self,
        environment: Mapping[str, str],
        domain: int,
        on_error: Callable[[str], None],
        writers: Callable[[], Iterable[tuple[str, Iterable[str]]]],
        find: Callable[[str], Iterable[Sibling]] = siblings,
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
        self._at_s: float | None = None
        self._seen: list[Diagnostic] = []

    def diagnostics(
        self, now_s: float, ports: Mapping[str, Any], stats: Iterable[Mapping[str, Any]] = ()
    ) -> list[Diagnostic]:
        """What there is to say; `ports` and the tunnels' `stats` as the engine tells them."""
        if self._at_s is None or now_s - self._at_s >= LOOK_S:
            self._at_s = now_s
            self._seen = [*self._sockets(ports, stats), self._graph.diagnostic(now_s, links(self._writers()))]
            errors = "; ".join(each.message for each in self._seen if each.level is Level.ERROR)
            if errors and errors != self._said:
                self._on_error(errors)
            self._said = errors
        return self._seen

    def _sockets(self, ports: Mapping[str, Any], stats: Iterable[Mapping[str, Any]]) -> list[Diagnostic]:
        meant = Meant({ports["data"]}, set(ports["plain"].values()), listeners(stats), self._allowed)
        try:
            return [look(self._find(self._mark), self._domain, meant).diagnostic()]
        except OSError:
            return []  # no /proc here: nothing can be said
