# SPDX-License-Identifier: Apache-2.0
"""A flood of forged datagrams at a UDP port of this machine, at a steady rate: a simulated attack.

The attacker stands on the path: it overhears frames, but has no key. A third of what it sends are frames it overheard a
moment ago, once more (a copy that wins the race against its original is a valid frame from a new address, which a
tunnel has to follow until the next one); a third carry an overheard header with a sequence number to come and a forged
rest, so that the receiver has to try and decrypt them; a third are nonsense. Only loopback targets are accepted.
"""

from __future__ import annotations

import ipaddress
import random
import socket
import threading
import time
from collections import deque
from collections.abc import Callable

# docs/protocol.md, section 5: the header's sequence number and its length.
_SEQUENCE = slice(13, 21)
_HEADER = 22
_AHEAD = 500  # well inside of what a replay window takes
_TURN_S = 0.01
HELD_S = 0.25  # older than any frame still on its way, younger than the replay window's end
MOST_PER_S = 20_000.0
_NONSENSE_BYTES = 120


class Flood:
    """Sends from a thread of its own between `start` and `stop`."""

    def __init__(
        self,
        host: str,
        port: int,
        rate_hz: float,
        overhear: Callable[[], bytes] = bytes,
        *,
        held_s: float = HELD_S,
        seed: int = 1,
    ) -> None:
        """`overhear` returns a frame on its way to the target, or nothing: then all is nonsense. It is used `held_s`
        later.

        Raises ValueError for a rate out of range or a target on another machine.
        """
        if not ipaddress.ip_address(host).is_loopback:
            raise ValueError(f"a flood of {host} is refused: it may only be sent to this machine itself")
        if not 0.0 < rate_hz <= MOST_PER_S:
            raise ValueError(f"a flood of {rate_hz:g} datagrams/s is out of range: give up to {MOST_PER_S:g}")
        self._target = (host, port)
        self._rate_hz = rate_hz
        self._overhear = overhear
        self._held_s = held_s
        self._heard: deque[tuple[float, bytes]] = deque()
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
                    source.sendto(self._datagram(), self._target)
                    self.sent += 1

    def _overheard(self, now_s: float) -> bytes:
        """The newest frame that has been held long enough, or nothing."""
        self._heard.append((now_s, self._overhear()))
        while len(self._heard) > 1 and self._heard[1][0] <= now_s - self._held_s:
            self._heard.popleft()
        heard_s, frame = self._heard[0]
        return frame if heard_s <= now_s - self._held_s else b""

    def _datagram(self) -> bytes:
        frame = self._overheard(time.monotonic())
        kind = self.sent % 3 if len(frame) > _HEADER else 2
        if kind == 0:
            return frame
        if kind == 1:
            forged = bytearray(frame[:_HEADER] + self._random.randbytes(len(frame) - _HEADER))
            ahead = int.from_bytes(frame[_SEQUENCE], "big") + self._random.randint(1, _AHEAD)
            forged[_SEQUENCE] = ahead.to_bytes(8, "big")
            return bytes(forged)
        return self._random.randbytes(_NONSENSE_BYTES)
