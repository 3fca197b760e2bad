# SPDX-License-Identifier: Apache-2.0
"""The engines of one system, asked and told by another process through their control sockets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from pqc_mav_common.errors import ProcessError
from pqc_mav_common.local_socket import Control, connect_all, places
from pqc_mav_common.siblings import MARK
from pqc_mav_proxy.guard import Listed, sockets_of, told

ANSWER_S = 1.0
_UNFIT = (OSError, ProcessError, ValueError, LookupError, TypeError, AttributeError)


class Doors:
    """`listed` opens them and `tell` closes them again."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._mark = environment.get(MARK, "")
        self._open: list[Control] = []

    def listed(self) -> Listed:
        """What each engine says of its own process; of which process it is, the kernel says."""
        found = {}
        try:
            connections = connect_all(places(self._environment), ANSWER_S)
        except ProcessError:
            return {}  # a folder of somebody else's
        for door in connections:
            with suppress(*_UNFIT):  # one of another version, or that hangs
                answer = door.ask("sockets")
                if answer["system"] == self._mark and door.process:
                    found[door.process] = sockets_of(answer["sockets"])
                    self._open.append(door)
                    continue
            door.close()
        return found

    def tell(self, dangers: Iterable[str]) -> None:
        """Tells those that were asked last; to be repeated while the dangers last."""
        lines = told(dangers)
        for door in self._open:
            with door, suppress(*_UNFIT):
                door.ask("dangers", lines=lines)
        self._open = []
