# SPDX-License-Identifier: Apache-2.0
"""The bad link itself: moves frames between two descriptors (TAP devices) as two `ImpairedDirection`s say.

What is due at once is written at once; the rest waits in a heap. One thread, no clock but the monotonic one.
"""

import heapq
import os
import select
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from pqc_mav_sim.impairment import ethernet
from pqc_mav_sim.impairment.model import ImpairedDirection
from pqc_mav_sim.impairment.nat import PortNat
from pqc_mav_sim.impairment.settings import Impairment

A_TO_B = "a_to_b"
B_TO_A = "b_to_a"
_LARGEST_FRAME = 65_536
_BATCH = 64


class _Direction:
    """One way: where frames come from and go to, what happens to them, and what happened so far."""

    def __init__(self, name: str, seed: int, source: int, target: int) -> None:
        self.source = source
        self.target = target
        self.model = ImpairedDirection(f"{seed}/{name}")
        self.waiting: list[tuple[float, int, bytes]] = []
        self.number = 0
        self.entered: Counter[str] = Counter()
        self.lost: dict[str, Counter[str]] = {}
        self.doubled: Counter[str] = Counter()

    def lose(self, reason: str, kind: str) -> None:
        self.lost.setdefault(reason, Counter())[kind] += 1

    def counters(self) -> dict[str, Any]:
        return {
            "entered": dict(self.entered),
            "lost": {reason: dict(kinds) for reason, kinds in self.lost.items()},
            "doubled": dict(self.doubled),
            "waiting": len(self.waiting),
        }


class Link:
    """Joins descriptors `a` and `b`, both non-blocking. With `nat` side a is behind a port-translating NAT."""

    def __init__(self, a: int, b: int, seed: int = 0, nat: bool = False) -> None:
        self.nat = PortNat() if nat else None
        self._directions = {A_TO_B: _Direction(A_TO_B, seed, a, b), B_TO_A: _Direction(B_TO_A, seed, b, a)}

    def impair(self, settings: Mapping[str, Any], directions: tuple[str, ...] = (A_TO_B, B_TO_A)) -> None:
        """Change settings of the directions from now on; the ones not named stay. Raises ImpairmentError."""
        new = {}
        for name in directions:
            new[name] = Impairment.from_dict({**self._directions[name].model.impairment.to_dict(), **settings})
        for name, impairment in new.items():
            self._directions[name].model.impairment = impairment

    def counters(self) -> dict[str, Any]:
        """Frames entered, lost by reason and doubled, each by kind (`ethernet.kind`), per direction."""
        result: dict[str, Any] = {name: way.counters() for name, way in self._directions.items()}
        result["nat"] = {"dropped": self.nat.dropped, "rebinds": self.nat.rebinds} if self.nat else None
        return result

    def run(self, control: int, command: Callable[[], bool]) -> None:
        """Move frames until `command`, called whenever the control descriptor is readable, returns False."""
        poll = select.epoll()
        by_descriptor = {way.source: way for way in self._directions.values()}
        for descriptor in (control, *by_descriptor):
            poll.register(descriptor, select.EPOLLIN)
        with poll:
            while True:
                # select.epoll rounds up to whole milliseconds; select on the epoll descriptor does not
                select.select([poll], [], [], self._until_due())
                for descriptor, _ in poll.poll(0):
                    if descriptor == control:
                        if not command():
                            return
                    else:
                        self._take_in(by_descriptor[descriptor])
                now = time.monotonic()
                for way in self._directions.values():
                    while way.waiting and way.waiting[0][0] <= now:
                        self._put_out(way, heapq.heappop(way.waiting)[2])

    def _until_due(self) -> float | None:
        due = [way.waiting[0][0] for way in self._directions.values() if way.waiting]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _take_in(self, way: _Direction) -> None:
        for _ in range(_BATCH):
            try:
                frame = os.read(way.source, _LARGEST_FRAME)
            except BlockingIOError:
                return
            kind = ethernet.kind(frame)
            way.entered[kind] += 1
            if self.nat and way is self._directions[B_TO_A]:
                translated = self.nat.inward(frame)
                if translated is None:
                    way.lose("nat", kind)
                    continue
                frame = translated
            now = time.monotonic()
            fate = way.model.offer(len(frame), now, kind)
            if fate.lost:
                way.lose(fate.lost, kind)
            if len(fate.times) > 1:
                way.doubled[kind] += 1
            for out in fate.times:
                if out <= now and not way.waiting:
                    self._put_out(way, frame)
                else:
                    heapq.heappush(way.waiting, (out, way.number, frame))
                    way.number += 1

    def _put_out(self, way: _Direction, frame: bytes) -> None:
        if self.nat and way is self._directions[A_TO_B]:
            frame = self.nat.outward(frame)
        try:
            os.write(way.target, frame)
        except OSError:  # the interface is down or full: to its sender that is a lost frame
            way.lose("device", ethernet.kind(frame))
