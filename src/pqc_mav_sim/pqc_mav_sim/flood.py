"""A flood of forged datagrams at a UDP port of this machine, at a steady rate: a simulated attack.

They look like the tunnel's frames by their first byte, a third each of data, control and nonsense, and are random from
there on: none can authenticate. Only loopback targets are accepted.
"""

from __future__ import annotations

import ipaddress
import random
import socket
import threading
import time

_FIRST_BYTES = (b"\x02", b"\x12", b"\xff")
_TURN_S = 0.01
MOST_PER_S = 20_000.0


class Flood:
    """Sends from a thread of its own between `start` and `stop`."""

    def __init__(self, host: str, port: int, rate_hz: float, *, size: int = 120, seed: int = 1) -> None:
        """Raises ValueError for a rate out of range or a target on another machine."""
        if not ipaddress.ip_address(host).is_loopback:
            raise ValueError(f"a flood of {host} is refused: it may only be sent to this machine itself")
        if not 0.0 < rate_hz <= MOST_PER_S:
            raise ValueError(f"a flood of {rate_hz:g} datagrams/s is out of range: give up to {MOST_PER_S:g}")
        self._target = (host, port)
        self._rate_hz = rate_hz
        self._size = size
        self._random = random.Random(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="flood", daemon=True)
        self.sent = 0

    def start(self) -> Flood:
        """Begin."""
        self._thread.start()
        return self

    def stop(self) -> int:
        """End. Returns how many datagrams were sent."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        return self.sent

    def _run(self) -> None:
        began = time.monotonic()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
            while not self._stop.wait(_TURN_S):
                wanted = int((time.monotonic() - began) * self._rate_hz)
                for _ in range(min(wanted - self.sent, int(self._rate_hz * 10 * _TURN_S) + 1)):
                    first = _FIRST_BYTES[self.sent % 3]
                    source.sendto(first + self._random.randbytes(self._size - 1), self._target)
                    self.sent += 1
