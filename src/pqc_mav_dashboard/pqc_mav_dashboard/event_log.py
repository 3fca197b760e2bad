# SPDX-License-Identifier: Apache-2.0
"""The newest events, numbered, so that each viewer gets each of them once."""

from collections import deque
from collections.abc import Mapping
from typing import Any

KEPT = 500


class EventLog:
    """Bounded: old events give way to new ones."""

    def __init__(self, kept: int = KEPT) -> None:
        self._events: deque[tuple[int, dict[str, Any]]] = deque(maxlen=kept)
        self._number = 0

    def add(self, end: str, event: Mapping[str, Any]) -> None:
        """One event of an end."""
        self._number += 1
        self._events.append((self._number, {**event, "end": end}))

    def after(self, number: int) -> tuple[int, list[dict[str, Any]]]:
        """The newest number, and the events above `number`, oldest first."""
        return self._number, [event for each, event in self._events if each > number]

    def clear(self) -> None:
        """Forgets them; the numbers go on."""
        self._events.clear()
