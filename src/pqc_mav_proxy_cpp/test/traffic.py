# SPDX-License-Identifier: Apache-2.0
"""Datagrams both ways through a pair of proxies: numbered, counted, none may be missing."""

from __future__ import annotations

import socket
import threading
import time

HOST = "127.0.0.1"
PERIOD_S = 0.004
LATE_S = 5.0


class Traffic:
    """The vehicle sends to the drone's proxy, the ground answers every datagram; from `start` to `stop`."""

    def __init__(self) -> None:
        self._vehicle, self._ground = self._socket(), self._socket()
        self.ground_port = self._ground.getsockname()[1]
        self.sent = 0
        self.up: set[bytes] = set()  # at the ground
        self.down: set[bytes] = set()  # the answers at the vehicle
        self._ending = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, plain_port: int) -> None:
        """Begin to send."""
        works = (lambda: self._send(plain_port), self._answer, self._listen)
        self._threads = [threading.Thread(target=work) for work in works]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Send no more, wait for what is under way, and close."""
        self._ending.set()
        for thread in self._threads:
            thread.join()
        self._vehicle.close()
        self._ground.close()

    def lost(self) -> tuple[int, int]:
        """How many are missing at the ground, and at the vehicle."""
        return self.sent - len(self.up), self.sent - len(self.down)

    @staticmethod
    def _socket() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((HOST, 0))
        made.settimeout(0.1)
        return made

    def _send(self, port: int) -> None:
        while not self._ending.wait(PERIOD_S):
            self._vehicle.sendto(b"datagram %d" % self.sent, (HOST, port))
            self.sent += 1

    def _more(self, seen: set[bytes], since: float | None) -> bool:
        return since is None or (len(seen) < self.sent and time.monotonic() - since < LATE_S)

    def _answer(self) -> None:
        self._receive(self._ground, self.up, answers=True)

    def _listen(self) -> None:
        self._receive(self._vehicle, self.down, answers=False)

    def _receive(self, sock: socket.socket, seen: set[bytes], *, answers: bool) -> None:
        ended = None
        while self._more(seen, ended):
            if ended is None and self._ending.is_set():
                ended = time.monotonic()
            try:
                packet, sender = sock.recvfrom(2048)
            except TimeoutError:
                continue
            seen.add(packet)
            if answers:
                sock.sendto(packet, sender)
