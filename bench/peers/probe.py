# SPDX-License-Identifier: Apache-2.0
"""Numbered datagrams from the drone's application to the ground's, from before there is a tunnel on."""

import contextlib
import socket
import threading
import time

import rig

from peers.ends import Ends
from peers.room import DRONE, GROUND

SIZE = 333  # bytes; no handshake message of any system is as long as a datagram of these


class Probe:
    """Sends every `period_s`, whether it can be sent or not, and notes what arrives and when."""

    def __init__(self, ends: Ends, period_s: float) -> None:
        self._to = rig.place(ends.entry)
        self._period_s = period_s
        self._stop = threading.Event()
        self.sent = 0
        #: (number, monotonic ns) of each arrival.
        self.arrivals: list[tuple[int, int]] = []
        self._arrived = threading.Condition()
        _, sender_port = rig.place(ends.sender)
        # An address of the tunnel's is not there yet: a proxy's application is bound, others leave as they are routed.
        loopback = self._to[0].startswith("127.")
        self._source = ends.room.call(DRONE, lambda: self._socket(("127.0.0.1" if loopback else "", sender_port)))
        self._sink = ends.room.call(GROUND, lambda: self._socket(("", rig.place(ends.exit)[1])))
        self._sink.settimeout(0.05)
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def _socket(address: tuple[str, int]) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind(address)
        return made

    def _send(self) -> None:
        due = time.monotonic()
        while not self._stop.is_set():
            # No route, no interface or no proxy yet: the next one will see.
            with contextlib.suppress(OSError):
                self._source.sendto(self.sent.to_bytes(8, "big") + bytes(SIZE - 8), self._to)
            self.sent += 1
            due = max(due + self._period_s, time.monotonic() - self._period_s)
            time.sleep(max(0.0, due - time.monotonic()))

    def _receive(self) -> None:
        while not self._stop.is_set():
            try:
                datagram = self._sink.recv(2048)
            except OSError:
                continue
            with self._arrived:
                self.arrivals.append((int.from_bytes(datagram[:8], "big"), time.monotonic_ns()))
                self._arrived.notify_all()

    def arrival_after(self, moment_ns: int, timeout_s: float) -> int | None:
        """When the first datagram arrived after that moment (monotonic ns); None when none did in time."""

        def found() -> int | None:
            return next((at for _, at in self.arrivals if at >= moment_ns), None)

        with self._arrived:
            self._arrived.wait_for(lambda: found() is not None, timeout_s)
            return found()

    def close(self) -> None:
        """Stop sending and receiving."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._source.close()
        self._sink.close()
