# SPDX-License-Identifier: Apache-2.0
"""Stands for the tunnel: a thread that carries datagrams between a drone's and a ground's plaintext side."""

from __future__ import annotations

import select
import socket
import threading


class Relay:
    """`drone`: where the drone's end sends to; `ground`: where the ground's end listens."""

    def __init__(self, drop_every: int = 0, repeat_every: int = 0) -> None:
        self._near, self._far = self._socket(), self._socket()
        with self._socket() as probe:
            self._ground = probe.getsockname()
        self._drone: tuple[str, int] | None = None
        self._drop_every, self._repeat_every = drop_every, repeat_every
        self._count = self.dropped = self.repeated = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @staticmethod
    def _socket() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind(("127.0.0.1", 0))
        return made

    @property
    def drone(self) -> str:
        return "{}:{}".format(*self._near.getsockname())

    @property
    def ground(self) -> str:
        return "{}:{}".format(*self._ground)

    def _run(self) -> None:
        while not self._stop.is_set():
            for ready in select.select([self._near, self._far], [], [], 0.05)[0]:
                try:
                    data, source = ready.recvfrom(65535)
                except OSError:
                    continue
                if ready is self._near:
                    self._drone = source
                    self._down(data)
                elif self._drone:
                    self._near.sendto(data, self._drone)

    def _down(self, data: bytes) -> None:
        # Hellos are not counted by anybody and pass always.
        if data[:4] == b"PQMB" and data[4] == 0:
            self._far.sendto(data, self._ground)
            return
        self._count += 1
        if self._drop_every and self._count % self._drop_every == 0:
            self.dropped += 1
            return
        self._far.sendto(data, self._ground)
        if self._repeat_every and self._count % self._repeat_every == 0:
            self.repeated += 1
            self._far.sendto(data, self._ground)

    def __enter__(self) -> Relay:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stop.set()
        self._thread.join()
        self._near.close()
        self._far.close()
