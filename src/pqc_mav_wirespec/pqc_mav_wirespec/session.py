# SPDX-License-Identifier: Apache-2.0
"""The keys one end holds for one peer, and their change without a gap (docs/protocol.md section 12)."""

from __future__ import annotations

from dataclasses import dataclass

from .dataplane import KIND_DATA, CompactHeader, Direction, Header, Outcome, ReceiveKey, SendKey
from .errors import NoSessionError
from .handshake import Previous
from .keyschedule import FEATURE_COMPACT, SessionKeys
from .replay import DEFAULT_BITS

GRACE_S = 2.0
UNUSED_KEY_S = 30.0
SESSION_LIMIT_S = 180.0


@dataclass
class KeySet:
    """The two keys of one session and epoch. `used` turns true when the first packet under it opens here."""

    keys: SessionKeys
    send: SendKey
    receive: ReceiveKey
    installed_at: float
    used: bool = False
    wipe_at: float | None = None


class Link:
    """Key sets of one peer, the newest last. Times are seconds of any monotonic clock, given by the caller."""

    def __init__(self, *, is_drone: bool, window_bits: int = DEFAULT_BITS) -> None:
        self._is_drone = is_drone
        self._window_bits = window_bits
        self._sets: list[KeySet] = []
        self._last_heard = 0.0

    def install(self, keys: SessionKeys, now: float) -> None:
        """Puts verified keys beside the running ones; an earlier set that waits for its first packet is replaced."""
        send, receive = (Direction.D2G, Direction.G2D) if self._is_drone else (Direction.G2D, Direction.D2G)
        running = self.sending
        self._sets = [held for held in self._sets if held.used or held is running]
        if not self._sets:
            self._last_heard = now
        self._sets.append(KeySet(keys, SendKey(keys, send), ReceiveKey(keys, receive, self._window_bits), now))

    def expire(self, now: float) -> None:
        """Drops what is past its time: retired after the grace, never used, or silent for too long."""
        if now - self._last_heard > SESSION_LIMIT_S:
            self._sets = []
        self._sets = [
            held
            for held in self._sets
            if (held.wipe_at is None or now < held.wipe_at) and (held.used or now - held.installed_at < UNUSED_KEY_S)
        ]

    @property
    def sending(self) -> KeySet | None:
        """The set to seal with: the drone's newest; the gcs waits for the first packet under a new one."""
        if not self._sets:
            return None
        if self._is_drone:
            return self._sets[-1]
        return next((held for held in reversed(self._sets) if held.used), self._sets[-1])

    @property
    def rekeyable(self) -> Previous | None:
        """What a rekey follows: the newest set that the peer has used, or the only one."""
        keys = self.running
        return Previous(keys.session_id, keys.epoch, keys.ck) if keys is not None else None

    @property
    def running(self) -> SessionKeys | None:
        """The keys of the session that a ratchet follows: as for a rekey."""
        held = next((held for held in reversed(self._sets) if held.used), self._sets[-1] if self._sets else None)
        return held.keys if held is not None else None

    def knows(self, session_id: bytes) -> bool:
        """Whether any live set is of this session."""
        return any(held.keys.session_id == session_id for held in self._sets)

    def holds(self, session_id: bytes, epoch: int) -> KeySet | None:
        """The live set of this session and epoch."""
        wanted = (session_id, epoch)
        return next((held for held in self._sets if (held.keys.session_id, held.keys.epoch) == wanted), None)

    @property
    def indices(self) -> set[int]:
        """Every index under which this end receives."""
        return {held.keys.own_index for held in self._sets if held.keys.features & FEATURE_COMPACT}

    def header_of(self, short: CompactHeader) -> Header | None:
        """The long header that a compact one stands for; None when its index is not held."""
        for held in self._sets:
            if held.keys.features & FEATURE_COMPACT and held.keys.own_index == short.index:
                return held.receive.header_of(short)
        return None

    @property
    def seen(self) -> int | None:
        """What SEEN says beside a frame sealed now: None without compact headers or before the first packet."""
        held = self.sending
        if held is None or not held.keys.features & FEATURE_COMPACT or held.receive.window.highest < 0:
            return None
        return held.receive.window.highest

    def peer_has_seen(self, session_id: bytes, highest: int) -> None:
        """A SEEN that came in a frame of this session."""
        for held in self._sets:
            if held.keys.session_id == session_id:
                held.send.peer_has_seen(highest)

    def seal(self, payload: bytes, *, kind: int = KIND_DATA, long_form: bool = False) -> bytes:
        """One datagram under the sending set. Raises NoSessionError, never sends in clear."""
        if self.sending is None:
            raise NoSessionError("there is no session to send on: complete a handshake first")
        return self.sending.send.seal(payload, kind=kind, long_form=long_form)

    def open(self, header: Header, sealed: bytes, now: float) -> tuple[Outcome, bytes]:
        """(outcome, plaintext) of what follows a parsed header; a newer set's first packet retires the older."""
        self.expire(now)
        held = self.holds(header.session_id, header.epoch)
        if held is None:
            return Outcome.UNKNOWN, b""
        outcome, plaintext = held.receive.open_parsed(header, sealed)
        if outcome in (Outcome.DELIVERED, Outcome.CONTROL, Outcome.DECRYPT_FAIL):
            self._last_heard = now
            if not held.used:
                held.used = True
                for older in self._sets[: self._sets.index(held)]:
                    older.wipe_at = now + GRACE_S if older.wipe_at is None else older.wipe_at
        return outcome, plaintext

    def is_current(self, header: Header) -> bool:
        """Whether it is of the newest keys that the peer used."""
        held = self.holds(header.session_id, header.epoch)
        used = [candidate for candidate in self._sets if candidate.used]
        return held is not None and bool(used) and held is used[-1]

    def is_repeat(self, header: Header, sealed: bytes) -> bool:
        """Whether what has a number that was seen is the packet that had it."""
        held = self.holds(header.session_id, header.epoch)
        return held is not None and held.receive.verifies(header, sealed)

    def wipe(self) -> None:
        """Forgets every key."""
        self._sets = []
