# SPDX-License-Identifier: Apache-2.0
"""An overtaker on the path, and forged sources: what of the downlink goes astray, and what is sent to a victim.

On loopback, with a relay for the network: the drone's datagrams take 20 ms from the address the gcs knows, the
overtaker's copies of them come at once from another.
"""

import heapq
import itertools
import random
import select
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import messages
import tables
from background import Background
from pair import on_loopback
from traffic import application_socket

from pqc_mav_common import two_ends

DELAY_S = 0.02
UP_RATE, DOWN_RATE = 50.0, 39.0  # telemetry and commands a second
SECONDS = 20.0
MOST_REFLECTED = 3.0
_VICTIM = "127.0.0.9"
WATCH_S = 8.0


@dataclass(frozen=True)
class Race:
    """An overtaker that wins this share of all races; commands sent, delivered, and bytes that went to him."""

    share: float
    answers: bool
    sent: int
    delivered: int
    astray_bytes: int


@dataclass(frozen=True)
class Reflection:
    """What one datagram with a forged source made the gcs send to that address."""

    what: str
    sent_bytes: int
    received_bytes: int


class Relay(Background):
    """The network between drone and gcs. `win`: share of the drone's datagrams that the overtaker's copy precedes.

    He has so many `addresses`; with `answers` he passes on all but data. `forged` copies of each datagram of a
    handshake, with `forges_all` of every one, come before all others, from nobody. With `blocks` only his arrive.
    """

    def __init__(
        self,
        gcs_port: int,
        seed: int = 1,
        win: float = 0.0,
        answers: bool = False,
        forged: int = 0,
        addresses: int = 1,
    ) -> None:
        self.gcs = (two_ends.HOST, gcs_port)
        self.win = win
        self.answers = answers
        self.forged = forged
        self.forges_all = False
        self.blocks = False
        self.silent = False
        self.steal = False
        self.astray_bytes = self.stolen_bytes = 0
        self.handshake: list[bytes] = []
        self._random = random.Random(seed)
        self._drone: tuple[str, int] | None = None
        self._waiting: list[tuple[float, int, socket.socket, bytes, tuple[str, int]]] = []
        self._order = itertools.count()
        self.drone_side, self._path = (application_socket() for _ in range(2))
        self._overtakers = [application_socket(host=_VICTIM) for _ in range(addresses)]
        self._left: list[socket.socket] = []
        self._begin()

    @property
    def port(self) -> int:
        """Where the drone finds "the gcs"."""
        return int(self.drone_side.getsockname()[1])

    def close(self) -> None:
        """End it."""
        super().close()
        for each in (self.drone_side, self._path, *self._overtakers, *self._left):
            each.close()

    def move(self) -> None:
        """From now on the drone comes from another address; what goes to the one before is lost."""
        self._left.append(self._path)
        self._path = application_socket(host="127.0.0.8")

    def _later(self, by: socket.socket, data: bytes, to: tuple[str, int]) -> None:
        heapq.heappush(self._waiting, (time.monotonic() + DELAY_S, next(self._order), by, data, to))

    def _run(self) -> None:
        while not self._over.is_set():
            handlers = {self.drone_side: self._from_drone, self._path: self._from_gcs}
            handlers |= dict.fromkeys(self._overtakers, self._astray)
            wait = self._waiting[0][0] - time.monotonic() if self._waiting else 0.02
            for each in select.select(list(handlers), [], [], min(max(wait, 0), 0.02))[0]:
                data, sender = each.recvfrom(65_536)
                handlers[each](data, sender)
            while self._waiting and self._waiting[0][0] <= time.monotonic():
                _, _, by, data, to = heapq.heappop(self._waiting)
                by.sendto(data, to)

    def _from_drone(self, data: bytes, sender: tuple[str, int]) -> None:
        self._drone = sender
        if self.silent:
            return
        if data[0] == 0x33:
            self.handshake.append(data)
        if data[0] == 0x33 or self.forges_all:
            for number in range(self.forged):
                with application_socket(host=f"127.0.0.{20 + number}") as nobody:
                    nobody.sendto(data, self.gcs)
        if self.steal:
            # the original never arrives, and the drone is heard no more
            self._overtakers[0].sendto(data, self.gcs)
            self.stolen_bytes, self.silent = len(data), True
            return
        if self._random.random() < self.win:
            for each in self._overtakers:
                each.sendto(data, self.gcs)
        if not self.blocks:
            self._later(self._path, data, self.gcs)

    def _from_gcs(self, data: bytes, _sender: tuple[str, int]) -> None:
        if self._drone is not None and not self.blocks:
            self._later(self.drone_side, data, self._drone)

    def _astray(self, data: bytes, _sender: tuple[str, int]) -> None:
        self.astray_bytes += len(data)
        if self.answers and self._drone is not None and not is_data(data):
            self._later(self.drone_side, data, self._drone)


def is_data(datagram: bytes) -> bool:
    """Whether it is a data frame or a bundle, of either form (docs/protocol.md section 10)."""
    first = datagram[0]
    return first in (0x03, 0x23) or first & 0xC0 == 0x80


class Session:
    """A gcs, a drone behind the relay, and traffic."""

    def __init__(self, stack: ExitStack, seed: int = 1, **attack: Any) -> None:
        began = 0.0

        def through(gcs_port: int) -> int:
            nonlocal began
            self.relay = Relay(gcs_port, seed, **attack)
            stack.callback(self.relay.close)
            began = time.monotonic()
            return self.relay.port

        pair = on_loopback(stack, through)
        self.up_s = time.monotonic() - began
        self.traffic = pair.traffic(UP_RATE, DOWN_RATE)


def measure(seed: int) -> list[Race]:
    """Race for half and for all datagrams, and for all with answers to what comes astray."""
    found = []
    for share, answers in ((0.5, False), (1.0, False), (1.0, True)):
        with ExitStack() as stack:
            session = Session(stack, seed)
            time.sleep(1.0)
            session.relay.answers, session.relay.win = answers, share
            time.sleep(SECONDS)
            session.relay.win = 0.0
            counts = session.traffic.stop()
            up = next(each for each in counts["streams"] if each["way"] == messages.UP)
            found.append(Race(share, answers, up["sent"], up["received"], session.relay.astray_bytes))
    return found


def reflect(runs: int) -> list[Reflection]:
    """One stolen packet with a forged source in `runs` sessions; then each datagram of a handshake, copied once."""
    found = []
    for _ in range(runs):
        with ExitStack() as stack:
            session = Session(stack)
            time.sleep(1.0)
            session.relay.steal = True
            time.sleep(WATCH_S)
            found.append(Reflection("a packet", session.relay.stolen_bytes, session.relay.astray_bytes))
    with ExitStack() as stack:
        session = Session(stack)
        for number, datagram in enumerate(session.relay.handshake):
            received = sum(drawn(datagram, session.relay.gcs))
            found.append(Reflection(f"handshake datagram {number + 1}", len(datagram), received))
    return found


def drawn(datagram: bytes, gcs: tuple[str, int], host: str = _VICTIM, watch_s: float = WATCH_S) -> list[int]:
    """How large the datagrams are that one copy of this draws to an address."""
    sizes: list[int] = []
    with application_socket(host=host) as victim:
        victim.sendto(datagram, gcs)
        deadline = time.monotonic() + watch_s
        while select.select([victim], [], [], max(0.0, deadline - time.monotonic()))[0]:
            sizes.append(len(victim.recv(65_536)))
    return sizes


def problems(races: Sequence[Race], reflected: Sequence[Reflection]) -> list[str]:
    """Return what is not as it must be, in words."""
    found = [
        f"an overtaker who wins {each.share:.0%}: {each.sent - each.delivered} of {each.sent} commands not delivered"
        for each in races
        if each.delivered < each.sent
    ]
    for each in reflected:
        if not each.sent_bytes:
            found.append(f"{each.what}: nothing was copied")
        elif each.received_bytes > MOST_REFLECTED * each.sent_bytes:
            found.append(f"{each.what}: {each.received_bytes} bytes for {each.sent_bytes}")
    return found


def section(races: Sequence[Race], reflected: Sequence[Reflection]) -> str:
    """The page's part."""
    text = (
        "\n## An overtaker\n\nOn loopback. The drone's datagrams take 20 ms; copies of them from another address come "
    )
    text += f"first, for {SECONDS:g} s, with {UP_RATE:g} messages/s up and {DOWN_RATE:g} commands/s down.\n\n"
    rows = [
        (
            f"{each.share:.0%}",
            "what may be a challenge" if each.answers else "nothing",
            each.sent,
            each.sent - each.delivered,
            each.astray_bytes,
        )
        for each in races
    ]
    head = ("races he wins", "he passes on", "commands", "not delivered", "bytes sent to him, copies and challenges")
    text += tables.markdown(head, rows)
    text += "\n## Reflection\n\nOne datagram with a forged source; then the bytes the gcs sends there in "
    text += f"{WATCH_S:g} s. *A packet*: of a live session, the original and all later ones held back.\n\n"
    kinds = {each.what for each in reflected}
    rows = []
    for kind in sorted(kinds):
        those = [each for each in reflected if each.what == kind]
        worst = max(those, key=lambda each: each.received_bytes / max(each.sent_bytes, 1))
        factor = f"x {worst.received_bytes / max(worst.sent_bytes, 1):.2f}"
        rows.append((kind, len(those), worst.sent_bytes, worst.received_bytes, factor))
    return text + tables.markdown(("copied", "times", "bytes of the worst", "answered with", "factor"), rows)
