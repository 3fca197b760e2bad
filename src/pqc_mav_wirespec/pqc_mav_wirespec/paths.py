# SPDX-License-Identifier: Apache-2.0
"""Where a gcs sends what goes to a drone (docs/protocol.md section 14).

No socket and no clock: `challenges` says which PATH_CHALLENGEs go where now, `targets` where everything else goes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

from . import control
from .mavlink import has_what_cannot_wait
from .proofs import Address
from .transport import AMPLIFICATION, IP_UDP_BYTES

LIVING, CANDIDATES, PER_SLOT = 4, 16, 4
CHALLENGES, CHALLENGE_BYTES = 6, 49 + IP_UDP_BYTES
LEAST_TIME_S, TIME_PTOS = 0.5, 3.0
FIRST_PTO_S = 0.2
CREDIT_MOST = 65_536
WATCH_S, UNANSWERED, UNHEARD_S, LATELY_S = 1.0, 3, 3.0, 1.0
JOIN_AFTER_S, SLOT_S = 1.0, (0.025, 0.075)
NEVER = float("inf")


@dataclass
class _Known:
    """One address; `number` says in which order they began to live."""

    heard: float
    due: float = NEVER
    credit: int = 0
    answered: bool = False
    number: int | None = None
    end: float = NEVER
    pause: float = WATCH_S
    rounds: int = 0
    unanswered: int = 0
    open: list[bytes] = field(default_factory=list)
    path: int | None = None


@dataclass
class Paths:
    """The addresses of one session, which begins with those that answered in its handshake.

    `several`: of a drone with several paths, whose answers say by which they came; `told` is its last PATHS.
    """

    answered: Sequence[Address]
    pto: float = FIRST_PTO_S
    random_bytes: Callable[[int], bytes] = secrets.token_bytes
    several: bool = False
    told: control.Paths | None = None
    began: float = 0.0
    _known: dict[Address, _Known] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=count)
    _joined: float = -NEVER
    _slot_end: float = NEVER
    _slot: list[tuple[Address, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        contested = len(self.answered) > 1 or self.several
        for address in self.answered[:LIVING]:
            due = 0.0 if contested else NEVER
            self._known[address] = _Known(self.began, due, answered=True, number=next(self._numbers))

    @property
    def living(self) -> list[Address]:
        """Who gets everything, the one that lives longest first."""
        numbered = [(known.number, address) for address, known in self._known.items() if known.number is not None]
        return [address for _, address in sorted(numbered, key=lambda entry: entry[0])]

    @property
    def current(self) -> Address:
        """The one that is named where only one can be."""
        return (self._mains or self.living)[0]

    def _is_main(self, address: Address) -> bool:
        path = self._known[address].path
        return self.told is None or path is None or path == self.told.main

    @property
    def _mains(self) -> list[Address]:
        return [address for address in self.living if self._is_main(address)]

    def _beside(self, address: Address) -> list[Address]:
        """Those that live of the same path; without a number, all."""
        path = self._known[address].path
        return [other for other in self.living if other != address and path in (None, self._known[other].path)]

    def on_told(self, word: control.Paths) -> None:
        """PATHS; an older word than the last one changes nothing."""
        if self.several and (self.told is None or word.serial > self.told.serial):
            self.told = word

    def copies(self) -> list[Address]:
        """Where something that goes by several paths goes besides its `targets`."""
        others = self.told.others if self.told is not None else 0
        known = [(address, self._known[address].path) for address in self.living if not self._is_main(address)]
        return [each for each, path in known if path is not None and others >> path & 1 and each != self.current]

    def takes(self, datagram: bytes) -> bool:
        """Whether the main path is for such a datagram."""
        only_commands = self.told is not None and self.told.others & control.Paths.ONLY_COMMANDS
        return not only_commands or has_what_cannot_wait(datagram)

    def wants_repeat(self, source: Address) -> bool:
        """Whether a packet that comes again from there could change anything."""
        return list(self._known) != [source]

    def on_packet(self, source: Address, length: int, now: float) -> None:
        """An authentic packet under the newest keys, new or come again."""
        known = self._known.get(source)
        if known is not None:
            known.heard = now
            known.credit = min(known.credit + AMPLIFICATION * (length + IP_UDP_BYTES), CREDIT_MOST)
        elif self._slot_end == NEVER and now - self._joined >= JOIN_AFTER_S:
            self._join(source, length, now)
        else:
            if self._slot_end == NEVER:
                share = int.from_bytes(self.random_bytes(4), "big") / 2**32
                self._slot_end = now + SLOT_S[0] + share * (SLOT_S[1] - SLOT_S[0])
            self._slot.append((source, length))

    def _pick(self, among: int) -> int:
        return int.from_bytes(self.random_bytes(4), "big") % among

    def _join(self, source: Address, length: int, now: float) -> None:
        self._joined = now
        waiting = [address for address, known in self._known.items() if known.number is None]
        if len(waiting) >= CANDIDATES:
            unanswered = [address for address in waiting if not self._known[address].answered]
            if not unanswered:
                return
            del self._known[unanswered[self._pick(len(unanswered))]]
        lasts = max(TIME_PTOS * self.pto, LEAST_TIME_S)
        credit = AMPLIFICATION * (length + IP_UDP_BYTES)
        pause = (lasts - self.pto) / (CHALLENGES - 1)
        self._known[source] = _Known(now, now, credit, end=now + lasts, pause=pause)

    def on_response(self, value: bytes, now: float, path: int | None = None) -> None:
        """A PATH_RESPONSE, from wherever it came."""
        if self.several != (path is not None):
            return
        for address, known in self._known.items():
            if value not in known.open:
                continue
            known.open.remove(value)
            known.unanswered = 0
            moved, known.path = known.path != path, path
            if not known.answered:
                known.answered, known.due, known.pause = True, now + WATCH_S, WATCH_S
                if len(self._beside(address)) < LIVING:
                    self._enliven(address, now)
            elif moved and known.number is not None:
                self._contest(address, now)
            return

    def _enliven(self, address: Address, now: float) -> None:
        self._known[address].number = next(self._numbers)
        self._contest(address, now)

    def _contest(self, address: Address, now: float) -> None:
        others = self._beside(address)
        if len(others) == 1:  # nobody asked it so far
            first = self._known[others[0]]
            first.heard, first.due, first.unanswered = now, now, 0

    def challenges(self, now: float) -> list[tuple[Address, bytes]]:
        """The challenges that are due, each with a value of its own. A path that failed is left."""
        if now >= self._slot_end:
            for _ in range(min(PER_SLOT, len(self._slot))):
                source, length = self._slot.pop(self._pick(len(self._slot)))
                if source not in self._known:
                    self._join(source, length, now)
            self._slot_end = NEVER
            self._slot.clear()
        out = []
        for address in list(self._known):
            known = self._known.get(address)
            if known is not None and now >= known.due and self._stays(address, known, now):
                value = self._challenge(known, now)
                if value is not None:
                    out.append((address, value))
        return out

    def _stays(self, address: Address, known: _Known, now: float) -> bool:
        """False for one that is forgotten now, or that needs no challenge."""
        if not known.answered:
            if known.rounds == CHALLENGES:
                del self._known[address]
                return False
            return True
        failed = known.unanswered >= UNANSWERED or now - known.heard >= UNHEARD_S
        others = self._beside(address)
        if failed and any(now - self._known[other].heard < LATELY_S for other in others):
            del self._known[address]
            waiting = [
                other
                for other, one in self._known.items()
                if one.answered and one.number is None and one.path == known.path
            ]
            if known.number is not None and waiting:
                self._enliven(waiting[0], now)
            return False
        if known.number is not None and not others and self.several == (known.path is not None):
            known.due, known.unanswered = NEVER, 0
            return False
        return True

    def _challenge(self, known: _Known, now: float) -> bytes | None:
        if known.answered:
            known.due = now + max(WATCH_S, self.pto)
        else:
            known.rounds += 1
            known.due = now + known.pause if known.rounds < CHALLENGES else known.end
        if known.number is None and not self._spend(known, CHALLENGE_BYTES):
            return None
        if known.answered:
            known.unanswered += 1
        value = self.random_bytes(8)
        known.open = [*known.open, value][-CHALLENGES:]
        return value

    @staticmethod
    def _spend(known: _Known, cost: int, reserve: int = 0) -> bool:
        if known.credit < cost + reserve:
            return False
        known.credit -= cost
        return True

    def deadline(self) -> float:
        """When `challenges` is due next."""
        return min([self._slot_end, *(known.due for known in self._known.values())])

    def targets(self, length: int) -> list[Address]:
        """Where a datagram of this length goes: to who lives of the main path, and to others within their credit."""
        out = self._mains or self.living[:1]
        for address, known in self._known.items():
            if known.number is None:
                more = known.answered or known.rounds < CHALLENGES
                if self._spend(known, length + IP_UDP_BYTES, CHALLENGE_BYTES if more else 0):
                    out.append(address)
        return out
