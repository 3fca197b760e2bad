# SPDX-License-Identifier: Apache-2.0
"""Numbered datagrams both ways through a pair of proxies. Only tests import this module."""

import socket
import threading
import time
from typing import TypeVar

from pqc_mav_common.testing import until

HOST = "127.0.0.1"
LATE_S = 5.0
Own = TypeVar("Own", bound="Traffic")


class Traffic:
    """A vehicle that sends numbers from 1 on to the drone's proxy, and a ground that answers each with the same.

    Use it in a `with` block, or end it with `stop`.
    """

    def __init__(self, ground_port: int = 0, period_s: float = 0.01) -> None:
        self._period_s = period_s
        self._vehicle, self._ground = self._socket(0), self._socket(ground_port)
        self.ground_port: int = self._ground.getsockname()[1]
        self.sent = 0
        self.up: list[int] = []  # as they arrived at the ground
        self.down: list[int] = []  # as their answers arrived at the vehicle
        self._silent, self._ended = threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self: Own, plain_port: int) -> Own:
        """Begin to send."""
        works = (lambda: self._send(plain_port), self._answer, self._listen)
        self._threads = [threading.Thread(target=work) for work in works]
        for thread in self._threads:
            thread.start()
        return self

    def flows(self) -> None:
        """Wait until something sent from now on is at the ground."""
        newest = self.sent
        until(lambda: self.up and self.up[-1] > newest, "traffic through the tunnel")

    def lost(self) -> tuple[int, int]:
        """Send no more and wait for what is under way; how many are missing at the ground, and at the vehicle."""
        self._silent.set()
        self._threads[0].join()
        end = time.monotonic() + LATE_S
        while (missing := self._missing()) != (0, 0) and time.monotonic() < end:
            time.sleep(0.01)
        return missing

    def stop(self) -> None:
        """No more of it."""
        self._silent.set()
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._vehicle.close()
        self._ground.close()

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @staticmethod
    def _socket(port: int) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((HOST, port))
        made.settimeout(0.05)
        return made

    def _missing(self) -> tuple[int, int]:
        return self.sent - len(set(self.up)), self.sent - len(set(self.down))

    def _send(self, port: int) -> None:
        while not self._silent.wait(self._period_s):
            self.sent += 1
            self._vehicle.sendto(self.sent.to_bytes(8, "big"), (HOST, port))

    def _answer(self) -> None:
        self._receive(self._ground, self.up, answers=True)

    def _listen(self) -> None:
        self._receive(self._vehicle, self.down, answers=False)

    def _receive(self, sock: socket.socket, seen: list[int], *, answers: bool) -> None:
        while not self._ended.is_set():
            try:
                packet, sender = sock.recvfrom(64)
            except TimeoutError:
                continue
            seen.append(int.from_bytes(packet, "big"))
            if answers:
                sock.sendto(packet, sender)
