# SPDX-License-Identifier: Apache-2.0
"""What the autopilots hear: numbered commands of the stations' ground software, and what these say."""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from background import Background

_SO_TIMESTAMPNS = 35


@dataclass(frozen=True)
class Command:
    """One command: when it arrived (the kernel's time, seconds), of which station and start of it, its number."""

    at: float
    station: str
    start: str
    number: int


@dataclass(frozen=True)
class Heard:
    """What one autopilot heard in a time.

    Attributes:
        silence_s: the longest time without any command.
        lost: commands that lack between two that followed each other from one start of one station.
        twice: commands that came again.
        stations: who was heard, in order, without repeats in a row.
        gaps: where commands lack: how many, of which station, and when.
    """

    silence_s: float
    lost: int
    twice: int
    stations: tuple[str, ...]
    gaps: tuple[str, ...] = ()


def judged(commands: Sequence[Command], since: float, until: float) -> Heard:
    """What was heard from `since` until `until`, both in seconds of `time.time`."""
    inside = [each for each in commands if since <= each.at <= until]
    times = [since, *(each.at for each in inside), until]
    silence = max(later - earlier for earlier, later in pairwise(times))
    lost = twice = 0
    gaps = []
    seen: set[tuple[str, str, int]] = set()
    for before, now in zip([None, *inside], inside, strict=False):
        name = (now.station, now.start, now.number)
        twice += name in seen
        seen.add(name)
        if before is not None and (before.station, before.start) == (now.station, now.start):
            lack = max(0, now.number - before.number - 1)
            lost += lack
            if lack:
                gaps.append(f"{lack} of {now.station} at {now.at - since:.2f} s")
    order = [each.station for each in inside]
    stations = tuple(name for at, name in enumerate(order) if at == 0 or order[at - 1] != name)
    return Heard(silence, lost, twice, stations, tuple(gaps))


def _arrived(about: Sequence[tuple[int, int, bytes]]) -> float:
    # The kernel's own time: this thread may have been late.
    for _, kind, value in about:
        if kind == _SO_TIMESTAMPNS:
            seconds, nanoseconds = struct.unpack("qq", value[:16])
            return float(seconds + nanoseconds / 1e9)
    return time.time()


class Autopilots(Background):
    """Listens at every drone's end, in a thread of its own, until `close`."""

    def __init__(self, sockets: Mapping[str, socket.socket]) -> None:
        self._lists: dict[str, list[Command]] = {name: [] for name in sockets}
        self._sockets = dict(sockets)
        self._begin()

    def commands(self, drone: str, newest: int = 0) -> list[Command]:
        """What this one has heard so far: all of it, or so many."""
        return self._lists[drone][-newest:]

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for name, each in self._sockets.items():
                each.setblocking(False)
                each.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
                selector.register(each, selectors.EVENT_READ, name)
            while not self._over.is_set():
                for key, _ in selector.select(0.2):
                    self._take(key.fileobj, self._lists[key.data])  # type: ignore[arg-type]

    @staticmethod
    def _take(end: socket.socket, into: list[Command]) -> None:
        while True:
            try:
                said, about, _, _ = end.recvmsg(200, 100)
            except OSError:
                return
            words = said.decode(errors="replace").split()
            if len(words) == 3 and words[2].isdigit():
                into.append(Command(_arrived(about), words[0], words[1], int(words[2])))

    def close(self) -> None:
        """Stop listening."""
        super().close()
        for each in self._sockets.values():
            each.close()
