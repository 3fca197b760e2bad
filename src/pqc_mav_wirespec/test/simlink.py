# SPDX-License-Identifier: Apache-2.0
"""A simulated link between an Attempt and a Station: seeded loss, delay and rate, no clock but its own."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable

from seeded import SeededRandom
from support import DRONE_ID, LIGHT, PSK, initiator_for, policy_for

from pqc_mav_wirespec.attempt import Attempt
from pqc_mav_wirespec.station import Station

GCS, DRONE = ("192.0.2.1", 46011), ("198.51.100.7", 46012)
RESTART_KEY = bytes(range(100, 132))


class Link:
    """Carries datagrams both ways. `spoil(direction, number, datagram)` may replace one by a list of (delay, bytes)."""

    def __init__(
        self,
        attempt: Attempt,
        station: Station,
        *,
        loss: float = 0.0,
        rtt: float = 0.1,
        rate: float = 10e6,
        seed: int = 1,
        spoil: Callable[[str, int, bytes], list[tuple[float, bytes]] | None] | None = None,
        largest: dict[str, int] | None = None,
        inside: bytes | None = None,
    ) -> None:
        self.attempt, self.station = attempt, station
        self.now = 0.0
        self._inside = inside
        self.source = DRONE
        self.to: dict[str, list[bytes]] = {"up": [], "down": []}
        self.strays: list[tuple[object, bytes]] = []
        self.outcomes: list[str] = []
        self._random = random.Random(seed)
        self._loss, self._delay, self._rate = loss, rtt / 2, rate
        self._free = {"up": 0.0, "down": 0.0}
        self._spoil = spoil
        self._largest = largest or {}
        self._queue: list[tuple[float, int, str, object, bytes]] = []
        self._count = 0

    def send(self, direction: str, datagram: bytes, source: object = None, extra: float = 0.0) -> None:
        number = len(self.to[direction])
        self.to[direction].append(datagram)
        copies = self._spoil(direction, number, datagram) if self._spoil is not None else None
        for delay, data in [(0.0, datagram)] if copies is None else copies:
            start = max(self.now, self._free[direction])
            self._free[direction] = start + (len(data) + 28) * 8 / self._rate
            if len(data) > self._largest.get(direction, 65535) or self._random.random() < self._loss:
                continue
            self._count += 1
            arrival = self._free[direction] + self._delay + delay + extra
            heapq.heappush(self._queue, (arrival, self._count, direction, source or self.source, data))

    def inject(self, datagram: bytes, source: object, delay: float = 0.0) -> None:
        """A datagram that somebody else sends to the gcs."""
        self._count += 1
        heapq.heappush(self._queue, (self.now + delay, self._count, "up", source, datagram))

    def _pump(self) -> None:
        for datagram in self.attempt.poll(self.now):
            self.send("up", datagram)
        outside, inside = self.station.poll(self.now)
        for _, value in inside:
            self.send("down", value)
        for address, datagram in outside:
            if address == self.source:
                self.send("down", datagram)
            else:
                self.strays.append((address, datagram))

    def run(self, limit: float = 120.0) -> float:
        """Until the drone's attempt is over; returns the time it took."""
        self._pump()
        while not self.attempt.finished:
            due = min(self.attempt.deadline(), self.station.deadline())
            if self._queue and self._queue[0][0] <= due:
                self.now, _, direction, source, datagram = heapq.heappop(self._queue)
                if self._inside is not None:
                    self.outcomes.append(self._inside_session(direction, datagram))
                elif direction == "up":
                    self.outcomes.append(self.station.on_datagram(datagram, source, self.now))
                elif datagram[0] == 0x53:
                    self.outcomes.append(self.attempt.on_retry(datagram, self.now))
                else:
                    self.outcomes.append(self.attempt.on_datagram(datagram, self.now))
            else:
                assert due < float("inf"), "nothing is due and nothing is under way"
                self.now = max(self.now, due)
            assert self.now < limit, f"not over after {limit} s"
            self._pump()
        return self.now

    def _inside_session(self, direction: str, value: bytes) -> str:
        attempt, packet, frames = value[:8], int.from_bytes(value[8:12], "big"), value[12:]
        if direction == "up":
            return self.station.on_session_value(DRONE_ID, self._inside, attempt, packet, frames, self.now)
        return self.attempt.on_session_value(packet, frames, self.now) if attempt == self.attempt.id else "hs_unknown"


def make_station(suite=LIGHT, *, seed=b"station", policy=None, **options):
    return Station(policy or policy_for(suite), restart_key=RESTART_KEY, random_bytes=SeededRandom(seed), **options)


def make_attempt(suite=LIGHT, *, seed=b"attempt", now=0.0, limit=1200, **changes):
    """A drone's attempt; inside a session where `previous` is among the changes."""
    psk = None if changes.get("previous") else PSK
    return Attempt(initiator_for(suite, **changes), psk, now, limit=limit, random_bytes=SeededRandom(seed))


def connect(suite=LIGHT, *, station=None, attempt=None, **link):
    """(link, seconds) of one handshake that must succeed."""
    made = Link(attempt or make_attempt(suite), station or make_station(suite), **link)
    seconds = made.run()
    assert made.attempt.initiator.keys is not None, made.attempt.initiator.error
    assert made.attempt.initiator.keys in [done.keys for done in made.station.completed]
    assert made.station.completed[-1].drone_id == DRONE_ID
    return made, seconds
