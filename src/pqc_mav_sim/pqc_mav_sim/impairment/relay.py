# SPDX-License-Identifier: Apache-2.0
"""The bad link between two programs on one machine, without privileges: a relay for the tunnel's UDP and TCP ports.

Side a (the drone) talks to the relay's ports instead of side b's (the ground station's). Datagrams have the fate that
an `ImpairedDirection` decides, one by one. A TCP stream is the kernel's on either side of the relay, so what a bad link
does to it is imitated: each piece takes the link's delay, a lost one that of a retransmission on top, order is kept,
and while the link is cut nothing moves.
"""

from __future__ import annotations

import heapq
import selectors
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A
from pqc_mav_sim.impairment.model import ImpairedDirection
from pqc_mav_sim.impairment.settings import Impairment

HOST = "127.0.0.1"
RETRANSMISSION_S = 0.2  # Linux' least retransmission time-out
BUFFER_BYTES = 4 << 20
_LARGEST = 65_536
_TURN_S = 0.02
_KINDS = {0x02: "data", 0x12: "control"}  # docs/protocol.md, section 5


class _Way:
    """One direction of the datagrams: the model, what waits, and what happened so far."""

    def __init__(self, name: str, seed: int) -> None:
        self.model = ImpairedDirection(f"{seed}/{name}")
        self.waiting: list[tuple[float, int, bytes]] = []
        self.number = 0
        self.entered: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self.device_lost = 0
        self.newest = b""

    def take(self, datagram: bytes, now: float) -> None:
        kind = _KINDS.get(datagram[0], "other") if datagram else "other"
        self.entered[kind] += 1
        self.newest = datagram if kind == "data" else self.newest
        fate = self.model.offer(len(datagram), now)
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


class _Stream:
    """One direction of a TCP connection: pieces wait for their time, in order."""

    def __init__(self, source: socket.socket, target: socket.socket, way: _Way) -> None:
        self.source, self.target, self.way = source, target, way
        self.pieces: deque[tuple[float, bytes]] = deque()
        self.ended = False

    def take(self, now: float) -> None:
        try:
            piece = self.source.recv(_LARGEST)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        self.ended = not piece
        fate = self.way.model.offer(max(1, len(piece)), now)
        out = max(fate.times, default=now + RETRANSMISSION_S + self.way.model.impairment.delay_ms / 1000)
        self.pieces.append((max(out, self.pieces[-1][0]) if self.pieces else out, piece))

    def put(self, now: float) -> bool:
        """Delivers what is due. False when the connection is over in this direction."""
        while self.pieces and self.pieces[0][0] <= now and not self.way.model.impairment.down:
            _, piece = self.pieces.popleft()
            try:
                if not piece:
                    self.target.shutdown(socket.SHUT_WR)
                    return False
                sent = self.target.send(piece)
            except BlockingIOError:
                sent = 0
            except OSError:
                return False
            if sent < len(piece):
                self.pieces.appendleft((now, piece[sent:]))
                break
        return True


class Relay:
    """Runs in a thread of its own from `start` to `stop`. The link is perfect until `impair` says otherwise."""

    def __init__(
        self, tcp_port: int, udp_port: int, *, tcp_listen: int = 0, udp_listen: int = 0, seed: int = 0
    ) -> None:
        """`tcp_port`, `udp_port`: side b's. Side a uses `tcp_listen` and `udp_listen` (0 = any). Raises OSError."""
        self._b_tcp = (HOST, tcp_port)
        self._ways = {name: _Way(name, seed) for name in (A_TO_B, B_TO_A)}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._a_address: Any = None
        self._a = self._udp()
        self._a.bind((HOST, udp_listen))
        self._b = self._udp()
        self._b.connect((HOST, udp_port))
        self._listener = socket.create_server((HOST, tcp_listen))
        self._listener.setblocking(False)
        self._streams: dict[socket.socket, _Stream] = {}
        for each in (self._a, self._b, self._listener):
            self._selector.register(each, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    @property
    def ports(self) -> tuple[int, int]:
        """TCP and UDP port for side a."""
        return self._listener.getsockname()[1], self._a.getsockname()[1]

    def start(self) -> Relay:
        """Begin to relay."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End, and close every connection."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        for stream in list(self._streams.values()):
            stream.source.close()
        for each in (self._a, self._b, self._listener):
            each.close()
        self._selector.close()

    def impair(self, settings: Mapping[str, Any], directions: tuple[str, ...] = (A_TO_B, B_TO_A)) -> None:
        """Change settings of the directions from now on; the ones not named stay. Raises ImpairmentError."""
        with self._lock:
            for name in directions:
                model = self._ways[name].model
                model.impairment = Impairment.from_dict({**model.impairment.to_dict(), **settings})

    def lost(self, direction: str, kind: str = "data") -> int:
        """Datagrams of a kind ("data", "control", "other") that the link swallowed so far."""
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
                self._readable(key.fileobj)
            now = time.monotonic()
            with self._lock:
                out = [(name, self._ways[name].due(now)) for name in (A_TO_B, B_TO_A)]
            for name, datagrams in out:
                for datagram in datagrams:
                    self._send(name, datagram)
            for stream in list(self._streams.values()):
                if not stream.put(now):
                    self._forget(stream)

    def _until_due(self) -> float:
        due = [way.waiting[0][0] for way in self._ways.values() if way.waiting]
        due += [stream.pieces[0][0] for stream in self._streams.values() if stream.pieces]
        return min(_TURN_S, max(0.0, min(due) - time.monotonic())) if due else _TURN_S

    def _readable(self, which: Any) -> None:
        if which is self._listener:
            self._accept()
        elif which in (self._a, self._b):
            self._datagrams(which)
        elif which in self._streams:
            stream = self._streams[which]
            stream.take(time.monotonic())
            if stream.ended:
                self._selector.unregister(which)

    def _datagrams(self, which: socket.socket) -> None:
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
        try:
            if name == A_TO_B:
                self._b.send(datagram)
            elif self._a_address is not None:
                self._a.sendto(datagram, self._a_address)
        except OSError:
            self._ways[name].device_lost += 1

    def _accept(self) -> None:
        try:
            near, _ = self._listener.accept()
        except OSError:
            return
        try:
            far = socket.create_connection(self._b_tcp, timeout=1.0)
        except OSError:
            near.close()
            return
        for source, target, name in ((near, far, A_TO_B), (far, near, B_TO_A)):
            source.setblocking(False)
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._streams[source] = _Stream(source, target, self._ways[name])
            self._selector.register(source, selectors.EVENT_READ)

    def _forget(self, stream: _Stream) -> None:
        """One direction is over; with the second one the connection goes."""
        self._streams.pop(stream.source, None)
        if not stream.ended:
            self._selector.unregister(stream.source)
        if stream.target not in self._streams:
            stream.source.close()
            stream.target.close()
