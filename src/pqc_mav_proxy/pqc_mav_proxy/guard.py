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

    def diagnostics(self, now_s: float, ports: Mapping[str, Any]) -> list[Diagnostic]:
        """What there is to say; `ports` as the engine tells them."""
        if self._at_s is None or now_s - self._at_s >= LOOK_S:
            self._at_s = now_s
            self._seen = [*self._sockets(ports), self._graph.diagnostic(now_s, links(self._writers()))]
            errors = "; ".join(each.message for each in self._seen if each.level is Level.ERROR)
            if errors and errors != self._said:
                self._on_error(errors)
            self._said = errors
        return self._seen

    def _sockets(self, ports: Mapping[str, Any]) -> list[Diagnostic]:
        meant = Meant({ports["data"]}, set(ports["plain"].values()), self._allowed)
        try:
            return [look(self._find(self._mark), self._domain, meant).diagnostic()]
        except OSError:
            return []  # no /proc here: nothing can be said
