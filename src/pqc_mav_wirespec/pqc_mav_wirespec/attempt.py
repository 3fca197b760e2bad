# SPDX-License-Identifier: Apache-2.0
"""A drone's handshake, in a session or outside one, without sockets (docs/protocol.md sections 4-6)."""

from __future__ import annotations

import secrets

from .encoding import FRAME_HEADER_BYTES
from .errors import MalformedError
from .fragments import fragment_size
from .handshake import Initiator, RandomBytes
from .hsframes import (
    ATTEMPT_BYTES,
    FragmentKeys,
    HandshakeDatagram,
    fragment_count,
    parse_frames,
    parse_retry,
    retry_verifies,
)
from .messages import LARGEST_DATAGRAM_BYTES, MessageType, server_hello_limits
from .ratchet import RatchetInitiator
from .transport import Transport
from .transport_state import Took

FRAGMENT_OVERHEAD_BYTES = 30
NO_PROGRESS_S = 10.0
TOTAL_S = 45.0


def hello_need(limit: int, longest_m2: int) -> int:
    """Rule 2: what the longest M2 takes with 30 bytes for each of its fragments."""
    count = fragment_count(longest_m2, fragment_size(longest_m2, limit, in_session=False))
    return longest_m2 + FRAGMENT_OVERHEAD_BYTES * count


def total_limit_s(m2_bytes: int) -> float:
    """How long an attempt may take after its M1."""
    return TOTAL_S + m2_bytes / 1024


class Attempt:
    """One attempt of a drone. `initiator` holds keys or an error when `finished`.

    `psk` is None for a rekey or a ratchet: its datagrams travel as control TLV 32 and go through `on_session_value`.
    """

    def __init__(
        self,
        initiator: Initiator | RatchetInitiator,
        psk: bytes | None,
        now: float,
        *,
        limit: int = LARGEST_DATAGRAM_BYTES,
        random_bytes: RandomBytes = secrets.token_bytes,
    ) -> None:
        self.initiator = initiator
        self.id = random_bytes(ATTEMPT_BYTES)
        self._keys = None if psk is None else FragmentKeys.derive(psk, self.id)
        self.transport = Transport(is_drone=True, attempt=self.id, keys=self._keys, now=now, limit=limit)
        self._began = now
        self.drone_id = ""
        self._total_s = TOTAL_S
        if isinstance(initiator, RatchetInitiator):
            self.transport.start(initiator.start(), now)
            self.transport.expect(initiator.allowed)
            return
        m1 = initiator.start()
        self.drone_id = initiator.hello.drone_id.decode("ascii")
        longest = server_hello_limits(initiator.suite, initiator.hello.hybrid)[1] + FRAME_HEADER_BYTES
        self._total_s = total_limit_s(longest)
        proven = bool(initiator.hello.return_proof)
        self.transport.start_hello(m1, hello_need(limit, longest), proven=proven, now=now)
        self.transport.expect(initiator.allowed)

    @property
    def finished(self) -> bool:
        """Whether it is over."""
        return self.initiator.finished

    def on_datagram(self, datagram: bytes, now: float) -> str:
        """A datagram that begins with 0x43; returns the outcome that counts it."""
        try:
            parsed = HandshakeDatagram.parse(datagram)
        except MalformedError:
            return "hs_malformed"
        if parsed.attempt != self.id or self._keys is None:
            return "hs_unknown"
        if not parsed.verifies(self._keys):
            return "hs_tag"
        return self._took(self.transport.on_datagram(parsed.packet, parsed.frames, 0, len(datagram), now), now)

    def on_session_value(self, packet: int, frames: bytes, now: float) -> str:
        """The value of a TLV 32 of this attempt, behind its eight bytes."""
        try:
            parsed = parse_frames(frames, from_drone=False, is_session=True)
        except MalformedError:
            return "hs_malformed"
        return self._took(self.transport.on_datagram(packet, parsed, 0, len(frames), now), now)

    def on_retry(self, datagram: bytes, now: float) -> str:
        """A datagram that begins with 0x53."""
        try:
            attempt, cookie = parse_retry(datagram)
        except MalformedError:
            return "hs_malformed"
        if attempt != self.id or self._keys is None:
            return "hs_unknown"
        if not retry_verifies(datagram, self._keys):
            return "hs_tag"
        self.transport.set_cookie(cookie, now)
        return "hs_taken"

    def _took(self, took: Took, now: float) -> str:
        message = self.transport.take_message()
        if message is not None and not self.finished:
            reply = self.initiator.feed(message)
            if message[4] == MessageType.REJECT and self.initiator.retry_ms:
                self.transport.hold_hello(now + self.initiator.retry_ms / 1000)
                self.initiator.retry_ms = 0
            if reply:
                self.transport.start(reply, now)
            self.transport.expect(self.initiator.allowed)
        return took.value

    def poll(self, now: float) -> list[bytes]:
        """What is to be sent now; ends the attempt when its time is over."""
        if self.finished:
            return []
        if now - self.transport.last_progress > NO_PROGRESS_S:
            self.initiator.abort(MalformedError("the handshake made no progress for 10 s"))
        elif not self.transport.in_session and now - self._began > self._total_s:
            self.initiator.abort(MalformedError("the handshake took too long"))
        return [] if self.finished else [datagram for _, datagram in self.transport.poll(now)]

    def deadline(self) -> float:
        """When `poll` is due next."""
        return min(self.transport.deadline(), self.transport.last_progress + NO_PROGRESS_S + 0.001)
