# SPDX-License-Identifier: Apache-2.0
"""Two simulated serial ports, pseudo terminals, with a cable: what is written to one is read at the other."""

from __future__ import annotations

import os
import pty
import select
import threading
import time
import tty
from collections.abc import Callable
from types import TracebackType

_PACE_S, _LATE_S = 0.01, 0.1
_AT_ONCE = 4096


class SerialCable:
    """`near` and `far` are the ports' paths, `port` is the near one, open. What passes may be changed by `spoil`; with
    `baud` each way carries no more than that, ten bits a byte."""

    def __init__(self, spoil: Callable[[bytes], bytes] | None = None, baud: int = 0) -> None:
        self._spoil = spoil or bytes
        self._most = max(1, round(baud / 10 * _PACE_S)) if baud else _AT_ONCE
        self._devices, self._ports = zip(*(pty.openpty() for _ in range(2)), strict=True)
        for port in self._ports:
            tty.setraw(port)
        self.near, self.far = (os.ttyname(port) for port in self._ports)
        self.port = self._ports[0]
        self._end, self._ended = os.pipe()
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def _carry(self) -> None:
        others = dict(zip(self._devices, reversed(self._devices), strict=True))
        due = time.monotonic()
        while True:
            ready, _, _ = select.select([*self._devices, self._end], [], [])
            if self._end in ready:
                return
            for device in ready:
                os.write(others[device], self._spoil(os.read(device, self._most)))
            if self._most != _AT_ONCE:
                # A sleep that ends late is made up for by the next ones: the rate holds.
                due = max(due + _PACE_S, time.monotonic() - _LATE_S)
                time.sleep(max(0.0, due - time.monotonic()))

    def __enter__(self) -> SerialCable:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.write(self._ended, b"x")
        self._thread.join()
        for descriptor in (*self._devices, *self._ports, self._end, self._ended):
            os.close(descriptor)
