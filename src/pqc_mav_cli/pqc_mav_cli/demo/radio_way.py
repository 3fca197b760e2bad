# SPDX-License-Identifier: Apache-2.0
"""The way over radios without a tunnel: what MAVLink routers do between a UDP port and a serial one, whole messages."""

from __future__ import annotations

import os
import select
import socket
import threading
import time
import tty
from types import TracebackType

from pqc_mav_sim.frames import Frame, FrameError, frame_at

HOST = "127.0.0.1"
DRIVER_BYTES = 4096  # what Linux' serial drivers hold; a message for which there is no room is dropped
_READ = 1024
_TURN_S = 0.1


class ClearWay:
    """Datagrams at `listen` (0 = any) go to a serial port, and messages from there to who sent last, or to `peer`."""

    def __init__(self, device: str, baud: int, listen: int = 0, peer: int = 0) -> None:
        self._bytes_per_s = baud / 10
        self._peer = (HOST, peer) if peer else None
        self._held, self._held_at = 0.0, time.monotonic()
        self._port = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._port)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((HOST, listen))
        self._came = bytearray()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="clear-way", daemon=True)

    def __enter__(self) -> ClearWay:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        self._socket.close()
        os.close(self._port)

    def _run(self) -> None:
        while not self._ended.is_set():
            ready, _, _ = select.select([self._socket.fileno(), self._port], [], [], _TURN_S)
            if self._socket.fileno() in ready:
                self._into_air()
            if self._port in ready:
                self._came += os.read(self._port, _READ)
                self._from_air()

    def _from_air(self) -> None:
        while self._came:
            found = frame_at(bytes(self._came), 0)
            if found is FrameError.TRUNCATED:
                return
            size = len(found.raw) if isinstance(found, Frame) else 1
            if isinstance(found, Frame) and self._peer is not None:
                self._socket.sendto(found.raw, self._peer)
            del self._came[:size]

    def _into_air(self) -> None:
        try:
            data, self._peer = self._socket.recvfrom(2048)
        except ConnectionError:  # nobody listens there yet
            return
        now = time.monotonic()
        self._held = max(0.0, self._held - (now - self._held_at) * self._bytes_per_s)
        self._held_at = now
        if self._held + len(data) > DRIVER_BYTES:
            return
        self._held += len(data)
        os.write(self._port, data)
