# SPDX-License-Identifier: Apache-2.0
"""The UDP socket at which a copy of the autopilot's MAVLink arrives."""

import socket
import time
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from pqc_mav_sensing import mavlink_filter
from pqc_mav_sensing.errors import SensingError
from pqc_mav_sensing.mavlink_messages import AUTOPILOT, MAX_DATAGRAM
from pqc_mav_sensing.mavlink_reader import WANTED

# Datagrams are taken in batches: one wake-up for all that have arrived, and the next one sooner where there are so many
# that the socket's buffer, some 250 datagrams, might not hold them for long.
BATCH_S = 0.2
SHORT_BATCH_S = 0.02
MANY = 40
RETRY_S = 1.0
MOST_AT_ONCE = 2000


def parse_address(text: str) -> tuple[str, int]:
    """`host:port`; raises SensingError."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 <= int(port) <= 65535:
        raise SensingError(f"The tap '{text}' is not an address: give host:port, e.g. 127.0.0.1:14591.")
    return host.strip("[]"), int(port)


class MavlinkTap:
    """Hands over each datagram with the time at which it was taken. `step` is for a SamplingThread."""

    def __init__(self, address: str, on_datagram: Callable[[bytes, float], None]) -> None:
        """Raises SensingError for a bad address."""
        self._address = parse_address(address)
        self._on_datagram = on_datagram
        self._socket: socket.socket | None = None
        self.problem = ""  # why nothing can arrive, as one sentence
        self.datagrams = 0
        self._sender: Any = None  # where the newest copy came from

    @property
    def port(self) -> int:
        """The real port, even when 0 was asked for; 0 while it is not bound."""
        return int(self._socket.getsockname()[1]) if self._socket else 0

    def step(self, now_s: float) -> float:
        """Takes what has arrived. Returns when to look again."""
        before = self.datagrams
        try:
            if self._socket is None:
                self._socket = self._bind()
                self.problem = ""
            for _ in range(MOST_AT_ONCE):
                self.datagrams += self._take(self._socket)
        except BlockingIOError:
            return now_s + (SHORT_BATCH_S if self.datagrams - before > MANY else BATCH_S)
        except OSError as error:
            self.problem = f"cannot listen at {self._address[0]}:{self._address[1]}: {error.strerror or error}"
            self.close()
            return now_s + RETRY_S
        return now_s

    def answer(self, datagram: bytes) -> bool:
        """Sends to where the copies come from, on this machine. False when that is not known or does not take it."""
        if self._socket is None or self._sender is None:
            return False
        try:
            if not ip_address(self._sender[0].partition("%")[0]).is_loopback:
                return False
            return self._socket.sendto(datagram, self._sender) == len(datagram)
        except OSError:
            return False

    def close(self) -> None:
        """Releases the port."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _take(self, source: socket.socket) -> int:
        datagram, self._sender = source.recvfrom(MAX_DATAGRAM)[:2]
        self._on_datagram(datagram, time.monotonic())
        return 1

    def _bind(self) -> socket.socket:
        family, kind, protocol, _, address = socket.getaddrinfo(
            *self._address, type=socket.SOCK_DGRAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setblocking(False)
            mavlink_filter.attach(bound, WANTED, AUTOPILOT)
            bound.bind(address)
        except OSError:
            bound.close()
            raise
        return bound
