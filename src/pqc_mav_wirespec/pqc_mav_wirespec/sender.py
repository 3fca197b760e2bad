# SPDX-License-Identifier: Apache-2.0
"""One message on its way out: what is sent when, what is lost, how much is under way (docs/protocol.md section 5)."""

from __future__ import annotations

from dataclasses import dataclass, field

from .errors import MalformedError
from .fragments import Cut, fragment_size
from .hsframes import MAX_BITMAP_BYTES, Ack
from .messages import SMALLEST_DATAGRAM_BYTES
from .rtt import Rtt

FIRST_WINDOW, SESSION_WINDOW, SMALLEST_WINDOW, LARGEST_WINDOW = 10.0, 2.0, 2.0, 256.0
LONGEST_PACE_S = 0.05
LEAST_LOSS_SAMPLE, LOSS_STEP = 16, 0.2
RESENT_AT_TIMEOUT = 2


@dataclass
class _Round:
    """What rule 9 measures from one echo to the next."""

    end: int = 0
    least_rtt: float = float("inf")
    sent: int = 0
    lost: int = 0


@dataclass
class _Sent:
    index: int
    at: float
    length: int


@dataclass
class Window:
    """How many fragments may be under way (rule 9)."""

    size: float
    doubling: bool
    least_loss: float = 1.0
    round: _Round = field(default_factory=_Round)

    def end_round(self, rtt: Rtt, next_packet: int) -> None:
        """Judges the round that an echo has ended and begins the next."""
        done = self.round
        share = done.lost / done.sent if done.sent else 0.0
        slow = done.least_rtt < float("inf") and done.least_rtt - rtt.least > max(0.03, rtt.least / 2)
        lossy = done.sent >= LEAST_LOSS_SAMPLE and share > self.least_loss + LOSS_STEP
        if done.sent >= LEAST_LOSS_SAMPLE:
            self.least_loss = min(self.least_loss, share)
        if slow or lossy:
            self.size, self.doubling = max(SMALLEST_WINDOW, 0.7 * self.size), False
        else:
            growth = self.size if self.doubling else max(1.0, self.size / 8)
            self.size = min(LARGEST_WINDOW, self.size + growth)
        self.round = _Round(end=next_packet)


class MessageSender:
    """The fragments of one message: `next_index` says what goes now, `on_ack` and `on_timeout` what goes again."""

    def __init__(
        self, whole_frame: bytes, limit: int, rtt: Rtt, *, in_session: bool, parity: bool, next_packet: int
    ) -> None:
        self._frame = whole_frame
        self._rtt = rtt
        self._in_session = in_session
        self.window = Window(SESSION_WINDOW if in_session else FIRST_WINDOW, doubling=not in_session)
        self.timeouts = self.total_timeouts = self.lost = 0
        self.acked: set[int] = set()
        self.big_acked = False
        self._limit = limit
        self._begin(limit, parity, next_packet)
        self.window.round.end = next_packet

    def _begin(self, limit: int, parity: bool, next_packet: int) -> None:
        self.cut = Cut(self._frame, fragment_size(len(self._frame), limit, in_session=self._in_session))
        self._first_packet = next_packet
        self.any_ack = False
        self.acked.clear()
        self._todo = self.cut.order(parity=parity)
        self._again: list[int] = []
        self._newest: dict[int, int] = {}
        self._sent: dict[int, _Sent] = {}
        self._under_way: set[int] = set()
        self._ceiling = 8 * MAX_BITMAP_BYTES
        self._forced = 0

    @property
    def message(self) -> int:
        """Its number."""
        return self.cut.message

    @property
    def complete(self) -> bool:
        """Whether every fragment is acknowledged."""
        return len(self.acked) == self.cut.count

    @property
    def waiting(self) -> bool:
        """Whether something was sent and is not acknowledged."""
        return any(index not in self.acked for index in self._newest if index < self.cut.count)

    @property
    def can_shrink(self) -> bool:
        """Whether rule 8 has anything left to do."""
        return self._limit > SMALLEST_DATAGRAM_BYTES and any(
            sent.length > SMALLEST_DATAGRAM_BYTES for sent in self._sent.values()
        )

    def shrink(self, parity: bool, next_packet: int) -> None:
        """Rule 8: cuts the message again for datagrams of 548 bytes."""
        self._limit = SMALLEST_DATAGRAM_BYTES
        self._begin(self._limit, parity, next_packet)

    @property
    def pace(self) -> float:
        """Seconds between two datagrams."""
        if self._rtt.srtt is None:
            return 0.0
        return min(LONGEST_PACE_S, self._rtt.srtt / (1.25 * self.window.size))

    def next_index(self) -> int | None:
        """The fragment that goes next, None when nothing may go now."""
        self._again = [index for index in self._again if index not in self.acked]
        while self._todo and self._todo[0] in self.acked:
            self._todo.pop(0)
        if not self._again and (not self._todo or self._todo[0] > self._ceiling):
            return None
        if self._forced <= 0 and len(self._under_way) >= self.window.size:
            return None
        return self._again[0] if self._again else self._todo[0]

    def on_sent(self, index: int, packet: int, now: float, length: int) -> None:
        """Notes a datagram with this fragment; several for several addresses are several packets."""
        self._forced -= 1
        if self._again and self._again[0] == index:
            self._again.pop(0)
        elif self._todo and self._todo[0] == index:
            self._todo.pop(0)
        self._newest[index] = packet
        self._under_way.add(index)
        self._sent[packet] = _Sent(index, now, length)
        self.window.round.sent += 1

    def check(self, ack: Ack) -> None:
        """Raises MalformedError for an ACK that cannot be of this cut."""
        if self._is_stale(ack):
            return
        if ack.base > self.cut.count or any(index >= self.cut.count for index in ack.here):
            raise MalformedError(f"an ACK of fragments beyond the {self.cut.count} of message {self.message}")

    def _is_stale(self, ack: Ack) -> bool:
        return ack.echo < self._first_packet and self._limit == SMALLEST_DATAGRAM_BYTES

    def on_ack(self, ack: Ack, echo_is_ours: bool, next_packet: int) -> bool:
        """Takes an ACK; returns whether it told something new."""
        if self._is_stale(ack):
            return False
        new = (set(range(ack.base)) | ack.here) - self.acked
        self.acked |= new
        self.any_ack = True
        self._ceiling = max(self._ceiling, ack.base + 8 * MAX_BITMAP_BYTES)
        self.big_acked |= any(
            sent.length > SMALLEST_DATAGRAM_BYTES for sent in self._sent.values() if sent.index in new
        )
        self._under_way -= new
        if echo_is_ours:
            self._find_lost(ack)
            if ack.echo >= self.window.round.end and self.window.round.sent:
                self.window.end_round(self._rtt, next_packet)
        if new:
            self.timeouts = 0
        return bool(new)

    def _find_lost(self, ack: Ack) -> None:
        """Rule 5; parity is sent once, so it only leaves the window."""
        for index in [index for index in self._under_way if self._newest[index] <= ack.echo]:
            if index >= self.cut.count:
                self._under_way.discard(index)
            elif index <= ack.base + 8 * len(ack.bitmap):
                self._under_way.discard(index)
                self.lost += 1
                self.window.round.lost += 1
                if index not in self._again:
                    self._again.append(index)

    def again(self) -> None:
        """Another address is to have what is under way."""
        self._again += sorted(index for index in self._under_way if index not in self._again)
        self._under_way.clear()

    def sample(self, rtt: float) -> None:
        """A new RTT sample belongs to the running round."""
        self.window.round.least_rtt = min(self.window.round.least_rtt, rtt)

    def on_timeout(self) -> None:
        """Rule 6: the two oldest unacknowledged fragments go again; fragment 0 where only the answer is missing."""
        self.timeouts += 1
        self.total_timeouts += 1
        left = [index for index in self._newest if index < self.cut.count and index not in self.acked]
        oldest = sorted(left, key=lambda index: self._newest[index])[:RESENT_AT_TIMEOUT]
        self._again = oldest + [index for index in self._again if index not in oldest]
        self._forced = len(oldest)

    def repeat(self) -> int:
        """The fragment that asks for a lost answer."""
        self.timeouts += 1
        self.total_timeouts += 1
        return 0
