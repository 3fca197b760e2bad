# SPDX-License-Identifier: Apache-2.0
"""Where a gcs sends when its drone's packets come from another address (docs/protocol.md section 14).

No socket and no clock: `challenges` says which PATH_CHALLENGEs go where now, `targets` where everything else goes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from .proofs import Address
from .transport import AMPLIFICATION, IP_UDP_BYTES

CHALLENGES = 6
LEAST_DECISION_S, DECISION_PTOS = 0.5, 3.0
FIRST_PTO_S = 0.2
IGNORED_S, WATCH_S, WATCHES = 10.0, 1.0, 3
SENIORS, IGNORED = 4, 8


@dataclass
class _Validation:
    """One address under test; `sent` are the challenges that went to each end."""

    candidate: Address
    began: float
    lasts: float
    rounds: int = 0
    sent: dict[bytes, Address] = field(default_factory=dict)
    lives: set[Address] = field(default_factory=set)


@dataclass
class Paths:
    """The path of one session. `current` is None until the drone was heard or its handshake validated it."""

    current: Address | None = None
    validated: bool = False
    pto: float = FIRST_PTO_S
    random_bytes: Callable[[int], bytes] = secrets.token_bytes
    seniors: list[Address] = field(default_factory=list)
    ignored: dict[Address, float] = field(default_factory=dict)
    _budget: dict[Address, int] = field(default_factory=dict)
    _running: _Validation | None = None
    _watched: Address | None = None
    _watch_at: float = float("inf")
    _unanswered: int = 0
    _watch_sent: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.validated and self.current is not None:
            self._remember(self.current)

    def _remember(self, address: Address) -> None:
        if address not in self.seniors:
            self.seniors.append(address)
            del self.seniors[SENIORS:]

    def on_packet(self, source: Address, length: int, newest: bool, now: float) -> None:
        """A new authentic packet of this session; `newest` says that its sequence is the highest so far."""
        self._budget[source] = self._budget.get(source, 0) + AMPLIFICATION * (length + IP_UDP_BYTES)
        if self.current is None:
            self.current = source
        if not newest:
            return
        if source == self.current:
            self._watched = None
            self._watch_at = float("inf")
            self._unanswered = 0
            if not self.validated and self._running is None:
                self._begin(source, now)
        elif self.ignored.get(source, 0.0) > now:
            if self._watched is None:
                self._watched, self._watch_at, self._unanswered = source, now + WATCH_S, 0
        elif self._running is None:
            self._begin(source, now)

    def _begin(self, candidate: Address, now: float) -> None:
        self._running = _Validation(candidate, now, max(DECISION_PTOS * self.pto, LEAST_DECISION_S))
        self._watched = None
        self._watch_at = float("inf")

    def on_response(self, value: bytes, now: float) -> None:
        """A PATH_RESPONSE, from wherever it came."""
        if value in self._watch_sent:
            self._unanswered = 0
            self._watch_sent.clear()
        running = self._running
        if running is None or value not in running.sent:
            return
        running.lives.add(running.sent[value])
        if running.lives >= {running.candidate, self.current} or self.current == running.candidate:
            self._decide(now)

    def _decide(self, now: float) -> None:
        running, self._running = self._running, None
        if running is None or self.current is None:
            return
        candidate, current = running.candidate, self.current
        if candidate == current:
            self.validated = candidate in running.lives
            if self.validated:
                self._remember(candidate)
            return
        if candidate not in running.lives:
            self._ignore(candidate, now)
        elif current not in running.lives:
            self._take(candidate)
        else:
            senior = next((address for address in self.seniors if address in (candidate, current)), current)
            self._ignore(candidate if senior == current else current, now)
            self._take(senior)

    def _take(self, address: Address) -> None:
        self.current, self.validated = address, True
        self._remember(address)

    def _ignore(self, address: Address, now: float) -> None:
        self.ignored.pop(address, None)
        self.ignored[address] = now + IGNORED_S
        while len(self.ignored) > IGNORED:
            self.ignored.pop(next(iter(self.ignored)))

    def challenges(self, now: float) -> list[tuple[Address, bytes]]:
        """The challenges that are due, each with a value of its own."""
        due: list[tuple[Address, bytes]] = []
        running = self._running
        if running is not None and self.current is not None:
            if now >= running.began + running.lasts:
                self._decide(now)
            elif running.rounds < CHALLENGES and now >= running.began + running.rounds * running.lasts / CHALLENGES:
                running.rounds += 1
                for address in dict.fromkeys((running.candidate, self.current)):
                    value = self.random_bytes(8)
                    running.sent[value] = address
                    due.append((address, value))
        if self._watched is not None and self.current is not None and now >= self._watch_at:
            if self._unanswered >= WATCHES:
                self.ignored.pop(self._watched, None)
                self._begin(self._watched, now)
                return due + self.challenges(now)
            value = self.random_bytes(8)
            self._watch_sent.add(value)
            self._unanswered += 1
            self._watch_at = now + WATCH_S
            due.append((self.current, value))
        return due

    def deadline(self) -> float:
        """When `challenges` is due next."""
        running = self._running
        if running is None:
            return self._watch_at
        rounds = running.rounds * running.lasts / CHALLENGES if running.rounds < CHALLENGES else running.lasts
        return min(self._watch_at, running.began + rounds)

    def targets(self, length: int) -> list[Address]:
        """Where a datagram of this length goes: the path, and a copy to an address under test within its budget."""
        if self.current is None:
            return []
        targets = [self.current] if self.validated or self.spend(self.current, length) else []
        running = self._running
        if running is not None and running.candidate != self.current and self.spend(running.candidate, length):
            targets.append(running.candidate)
        return targets

    def spend(self, address: Address, length: int) -> bool:
        """Whether an address that is not validated may get this datagram; it is counted then."""
        if self._budget.get(address, 0) < length + IP_UDP_BYTES:
            return False
        self._budget[address] -= length + IP_UDP_BYTES
        return True
