# SPDX-License-Identifier: Apache-2.0
"""A UDP relay on loopback that loses a seeded share of the datagrams of each direction, among them the very first."""

from __future__ import annotations

import random
import select
import socket
import threading
from collections import deque
from contextlib import contextmanager


class LossyRelay:
    """Carries datagrams between one client, whoever sends first to `address`, and `target`."""

    def __init__(self, target: tuple[str, int], loss: float, seed: int) -> None:
        self.loss = loss
        self.carried = {"up": 0, "down": 0}
        self.lost = {"up": 0, "down": 0}
        self.recent: deque[bytes] = deque(maxlen=64)
        """The last datagrams carried, so that a test can wait for one of its own."""
        self._target = target
        self._random = random.Random(seed)
        self._front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._front.bind(("127.0.0.1", 0))
        self._back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._back.bind(("127.0.0.1", 0))
        self._client: tuple[str, int] | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def address(self) -> tuple[str, int]:
        return self._front.getsockname()

    def _run(self) -> None:
        while not self._over.is_set():
            for ready in select.select([self._front, self._back], [], [], 0.05)[0]:
                datagram, source = ready.recvfrom(65535)
                direction = "up" if ready is self._front else "down"
                if direction == "up":
                    self._client = source
                unharmed = self.loss > 0 and not sum(self.lost.values())  # few datagrams may all be lucky
                if unharmed or self._random.random() < self.loss:
                    self.lost[direction] += 1
                    continue
                self.carried[direction] += 1
                if direction == "up":
                    self._back.sendto(datagram, self._target)
                elif self._client is not None:
                    self._front.sendto(datagram, self._client)
                self.recent.append(datagram)

    def close(self) -> None:
        self._over.set()
        self._thread.join(5.0)
        self._front.close()
        self._back.close()


@contextmanager
def lossy(target, loss=0.2, seed=1):
    relay = LossyRelay(target, loss, seed)
    try:
        yield relay
    finally:
        relay.close()
