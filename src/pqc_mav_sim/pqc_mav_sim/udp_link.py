# SPDX-License-Identifier: Apache-2.0
"""A UDP socket for MAVLink: one peer, errors counted and survived, nothing ever raised while running.

With a fixed peer only datagrams from that address are taken. Without one the first valid frame tells who the peer is,
and another takes its place when it has been silent for a while, so that a restarted client is found again.
"""

import errno
import select
import socket
from dataclasses import dataclass, field
from typing import Any

from pqc_mav_sim.endpoint import Endpoint, EndpointError
from pqc_mav_sim.frames import MAX_DATAGRAM, Parsed, parse_datagram

PEER_SILENT_S = 5.0
_BATCH = 64
_BUFFER_BYTES = 1 << 20


@dataclass
class LinkStats:
    """Counts since the start; `errors` by the reason a datagram held something that is not a frame."""

    datagrams_sent: int = 0
    bytes_sent: int = 0
    send_failed: int = 0
    datagrams_received: int = 0
    bytes_received: int = 0
    foreign_datagrams: int = 0
    receive_failed: int = 0
    errors: dict[str, int] = field(default_factory=dict)


class UdpLink:
    """Non-blocking; all times are seconds on the caller's monotonic clock.

    Raises EndpointError when the socket cannot be bound.
    """

    def __init__(self, bind: Endpoint, peer: Endpoint | None = None) -> None:
        self.stats = LinkStats()
        self._fixed = peer is not None
        self._peer: tuple[Any, ...] | None = peer.sockaddr if peer else None
        self._peer_heard = 0.0
        self._socket = socket.socket(bind.family, socket.SOCK_DGRAM)
        try:
            self._socket.bind(bind.sockaddr)
        except OSError as error:
            self._socket.close()
            raise EndpointError(f"cannot listen on {bind}: {error.strerror}; is another program using it?") from error
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self.address: Endpoint = Endpoint(bind.family, self._socket.getsockname())

    @property
    def has_peer(self) -> bool:
        """Whether there is a peer to send to."""
        return self._peer is not None

    @property
    def peer(self) -> str | None:
        """The peer as text, None when there is none yet."""
        return None if self._peer is None else str(Endpoint(self.address.family, self._peer))

    def wait(self, seconds: float) -> bool:
        """Sleep until a datagram is there or the time is over; return whether one is there."""
        return bool(self._poll.poll(max(0.0, seconds) * 1000.0))

    def receive(self, t: float) -> list[Parsed]:
        """Return what the waiting datagrams hold, at most a batch of them."""
        found: list[Parsed] = []
        for _ in range(_BATCH):
            try:
                data, source = self._socket.recvfrom(MAX_DATAGRAM + 1)
            except OSError as error:
                # an ICMP answer to an earlier datagram surfaces here: nothing listens yet, which is normal
                if error.errno not in (errno.EAGAIN, errno.EWOULDBLOCK):
                    self.stats.receive_failed += 1
                break
            self.stats.datagrams_received += 1
            self.stats.bytes_received += len(data)
            if self._fixed and self._peer is not None and source[:2] != self._peer[:2]:
                self.stats.foreign_datagrams += 1
                continue
            parsed = parse_datagram(data)
            for reason in parsed.errors:
                self.stats.errors[reason.value] = self.stats.errors.get(reason.value, 0) + 1
            if self._fixed or self._is_peer(source, bool(parsed.frames), t):
                found.append(parsed)
        return found

    def _is_peer(self, source: tuple[Any, ...], valid: bool, t: float) -> bool:
        if source == self._peer:
            self._peer_heard = t if valid else self._peer_heard
            return True
        if valid and (self._peer is None or t - self._peer_heard > PEER_SILENT_S):
            self._peer, self._peer_heard = source, t
            return True
        self.stats.foreign_datagrams += 1
        return False

    def send(self, data: bytes) -> bool:
        """Send one datagram to the peer; return whether the system took it."""
        if self._peer is None:
            return False
        try:
            self._socket.sendto(data, self._peer)
        except OSError:
            self.stats.send_failed += 1
            return False
        self.stats.datagrams_sent += 1
        self.stats.bytes_sent += len(data)
        return True

    def close(self) -> None:
        """Give the port back."""
        self._socket.close()
