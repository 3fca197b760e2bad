# SPDX-License-Identifier: Apache-2.0
"""The bad link between two programs on one machine, without privileges: a relay for the tunnel's UDP port.

Side a (the drone) talks to the relay's port instead of side b's (the ground station's). Datagrams have the fate that
an `ImpairedDirection` decides, one by one.
"""

from __future__ import annotations

import contextlib
import heapq
import selectors
import socket
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from pqc_mav_sim.impairment.ethernet import kind_of_datagram
from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A
from pqc_mav_sim.impairment.model import ImpairedDirection
from pqc_mav_sim.impairment.settings import Impairment

HOST = "127.0.0.1"
BUFFER_BYTES = 4 << 20
_LARGEST = 65_536
_TURN_S = 0.02


class _Way:
    """One direction of the datagrams: the model, what waits, and what happened so far."""

    def __init__(self, name: str, seed: int) -> None:
        self.model = ImpairedDirection(f"{seed}/{name}")
        self.waiting: list[tuple[float, int, bytes]] = []
        self.number = 0
        self.entered: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self.newest = b""

    def take(self, datagram: bytes, now: float) -> None:
        kind = kind_of_datagram(datagram)
        self.entered[kind] += 1
        self.newest = datagram if kind == "data" else self.newest
        fate = self.model.offer(len(datagram), now, kind)
        if not fate.times:
            self.lost[kind] += 1
        for out in fate.times:
            heapq.heappush(self.waiting, (out, self.number, datagram))
            self.number += 1

    def due(self, now: float) -> list[bytes]:
        ready = []
        while self.waiting and self.waiting[0][0] <= now:
            ready.append(heapq.heappop(self.waiting)[2])
        return ready


class Relay:
    """Runs in a thread of its own from `start` to `stop`. The link is perfect until `impair` says otherwise."""

    def __init__(self, port: int, *, listen: int = 0, seed: int = 0) -> None:
        """`port`: side b's. Side a uses `listen` (0 = any). Raises OSError."""
        self._ways = {name: _Way(name, seed) for name in (A_TO_B, B_TO_A)}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._a_address: Any = None
        self._a = self._udp()
        self._a.bind((HOST, listen))
        self._b = self._udp()
        self._b.connect((HOST, port))
        for each in (self._a, self._b):
            self._selector.register(each, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    @property
    def port(self) -> int:
        """Port for side a."""
        return int(self._a.getsockname()[1])

    def start(self) -> Relay:
        """Begin to relay."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End, and close both sockets."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        for each in (self._a, self._b):
            each.close()
        self._selector.close()

    def impair(self, settings: Mapping[str, Any], directions: tuple[str, ...] = (A_TO_B, B_TO_A)) -> None:
        """Change settings of the directions from now on; the ones not named stay. Raises ImpairmentError."""
        with self._lock:
            for name in directions:
                model = self._ways[name].model
                model.impairment = Impairment.from_dict({**model.impairment.to_dict(), **settings})

    def lost(self, direction: str, kind: str = "data") -> int:
        """Datagrams of a kind ("data", "control", "handshake", "other") that the link swallowed so far."""
        with self._lock:
            return self._ways[direction].lost[kind]

    def entered(self, direction: str, kind: str = "data") -> int:
        """Datagrams of a kind that came in so far."""
        with self._lock:
            return self._ways[direction].entered[kind]

    def overheard(self, direction: str) -> bytes:
        """The newest data frame of a direction, as anybody on the path can see it; empty before the first."""
        with self._lock:
            return self._ways[direction].newest

    @staticmethod
    def _udp() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            made.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
        made.setblocking(False)
        return made

    def _run(self) -> None:
        while not self._stop.is_set():
            for key, _ in self._selector.select(self._until_due()):
                self._datagrams(key.fileobj)
            now = time.monotonic()
            with self._lock:
                out = [(name, self._ways[name].due(now)) for name in (A_TO_B, B_TO_A)]
            for name, datagrams in out:
                for datagram in datagrams:
                    self._send(name, datagram)

    def _until_due(self) -> float:
        due = [way.waiting[0][0] for way in self._ways.values() if way.waiting]
        return min(_TURN_S, max(0.0, min(due) - time.monotonic())) if due else _TURN_S

    def _datagrams(self, which: Any) -> None:
        name = A_TO_B if which is self._a else B_TO_A
        for _ in range(256):
            try:
                datagram, sender = which.recvfrom(_LARGEST)
            except BlockingIOError:
                return
            except OSError:  # side b does not listen (yet): an ICMP answer
                continue
            if which is self._a:
                self._a_address = sender
            with self._lock:
                self._ways[name].take(datagram, time.monotonic())

    def _send(self, name: str, datagram: bytes) -> None:
        with contextlib.suppress(OSError):
            if name == A_TO_B:
                self._b.send(datagram)
            elif self._a_address is not None:
                self._a.sendto(datagram, self._a_address)
