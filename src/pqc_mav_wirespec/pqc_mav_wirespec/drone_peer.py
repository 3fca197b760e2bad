# SPDX-License-Identifier: Apache-2.0
"""A drone for tests, on one UDP socket; every call is bounded by a timeout."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from . import bundle, control
from .attempt import Attempt
from .dataplane import KIND_BUNDLE, KIND_DATA
from .deadline import Deadline
from .errors import MalformedError, NoSessionError, WireError
from .handshake import Initiator, ReturnTicket
from .hsframes import TYPE_GCS, TYPE_RESTART, TYPE_RETRY, parse_restart
from .keyschedule import SessionKeys
from .messages import LARGEST_DATAGRAM_BYTES
from .primitives import same, sha256
from .proofs import Address
from .ratchet import RatchetInitiator
from .replay import DEFAULT_BITS
from .session import Link
from .suites import Suite
from .udp_peer import POLL_S, ProbeResult, Received, UdpPeer

HANDSHAKE_S = 45.0


@dataclass(frozen=True)
class DroneIdentity:
    """Who a drone is: its id, its secrets and how it knows the gcs for one signature algorithm.

    `psk` is the one that this gcs holds, too.
    """

    drone_id: str
    psk: bytes = field(repr=False)
    gcs_public: bytes
    sign_secret: bytes | None = field(default=None, repr=False)
    gcs_id: str = "gcs"


class DronePeer(UdpPeer):
    """A drone. `connect` makes a fresh session, `rekey` follows on it; both raise the WireError that ended them."""

    names_session = True

    def __init__(self, gcs_address: Address, bind: Address = ("127.0.0.1", 0), features: int = 0) -> None:
        super().__init__(bind, features)
        self._next_index = 0
        self._first_role = (False, 0)
        self.term_told = -1
        self.role_open: control.Role | None = None
        self.gcs_address = gcs_address
        self.drone_id = ""
        self.max_datagram = LARGEST_DATAGRAM_BYTES
        self.return_ticket: ReturnTicket | None = None
        self.restart_seen = False
        self.answers_challenges = True
        self._token_hash = b""
        self._attempt: Attempt | None = None

    def connect(
        self,
        suite: Suite,
        identity: DroneIdentity,
        *,
        hybrid: bool = True,
        standby: bool = False,
        term: int = 0,
        timeout: float = HANDSHAKE_S,
    ) -> SessionKeys:
        """A first handshake (epoch 0); an earlier session is kept for the grace. With roles, in this one."""
        self._first_role = (standby, term)
        return self._handshake(suite, identity, hybrid, False, timeout)

    def rekey(self, suite: Suite, identity: DroneIdentity, *, timeout: float = HANDSHAKE_S) -> SessionKeys:
        """A handshake inside the running session: epoch + 1, a new session id, any suite."""
        return self._handshake(suite, identity, True, True, timeout)

    def ratchet(self, psk: bytes, *, fresh: bool = True, timeout: float = HANDSHAKE_S) -> SessionKeys:
        """Fresh keys for the running session in two messages."""
        running = self.links[self.drone_id].running if self.drone_id in self.links else None
        if running is None:
            raise NoSessionError("there is no session to ratchet: connect first")
        return self._run(RatchetInitiator(running, psk, fresh=fresh, index=self._new_index()), None, timeout)

    def _new_index(self) -> int:
        held = self.links[self.drone_id].indices if self.drone_id in self.links else set()
        index = next(n % 256 for n in range(self._next_index, self._next_index + 256) if n % 256 not in held)
        self._next_index = index + 1
        return index

    def _handshake(self, suite: Suite, who: DroneIdentity, hybrid: bool, inside: bool, timeout: float) -> SessionKeys:
        previous = self.links[self.drone_id].rekeyable if inside and self.drone_id in self.links else None
        if inside and previous is None:
            raise NoSessionError("there is no session to rekey: connect first")
        initiator = Initiator(
            suite,
            who.drone_id,
            who.psk,
            who.gcs_public,
            gcs_id=who.gcs_id,
            hybrid=hybrid,
            sign_secret=who.sign_secret,
            previous=previous,
            return_ticket=None if inside else self.return_ticket,
            max_datagram=self.max_datagram,
            features=self.features,
            index=self._new_index(),
            standby=self._first_role[0] and not inside,
            term=0 if inside else self._first_role[1],
        )
        return self._run(initiator, None if inside else who.psk, timeout)

    def _run(self, initiator: Initiator | RatchetInitiator, psk: bytes | None, timeout: float) -> SessionKeys:
        limit = self.max_datagram if self.max_datagram < LARGEST_DATAGRAM_BYTES else LARGEST_DATAGRAM_BYTES
        self._attempt = Attempt(initiator, psk, time.monotonic(), limit=limit)
        deadline = Deadline(timeout)
        while not initiator.finished:
            if deadline.over:
                initiator.abort(MalformedError(f"the gcs did not answer in {timeout} s"))
            self._keep_alive()
            self._receive_one(min(POLL_S, deadline.left()), lambda: initiator.finished)
        self._attempt = None
        if initiator.keys is None:
            raise initiator.error or WireError("the handshake did not finish")
        return initiator.keys

    def _install(self, attempt: Attempt) -> None:
        """At once when M4 verified: the first packet shows the gcs the path and lets it switch to these keys."""
        keys = attempt.initiator.keys
        if keys is None:
            return
        self.drone_id = attempt.drone_id or self.drone_id
        link = self.links.setdefault(self.drone_id, Link(is_drone=True, window_bits=DEFAULT_BITS))
        link.install(keys, time.monotonic())
        self._token_hash, self.restart_seen = b"", False
        self.send_control(control.Switched(keys.epoch))

    def _targets(self, drone_id: str, length: int) -> list[Address]:
        return [self.gcs_address]

    def _on_other(self, datagram: bytes, source: Address, now: float) -> str | None:
        first = datagram[0] if datagram else -1
        if first not in (TYPE_GCS, TYPE_RETRY, TYPE_RESTART):
            return None
        if first == TYPE_RESTART:
            return self._on_restart(datagram)
        if self._attempt is None:
            return "hs_unknown"
        if first == TYPE_RETRY:
            return self._attempt.on_retry(datagram, now)
        outcome = self._attempt.on_datagram(datagram, now)
        self._finish_attempt()
        return outcome

    def _finish_attempt(self) -> None:
        attempt = self._attempt
        if attempt is not None and attempt.finished:
            self._attempt = None
            self._install(attempt)

    def _on_restart(self, datagram: bytes) -> str:
        """Sets `restart_seen`, once per session, when the token is the current session's."""
        try:
            session_id, token = parse_restart(datagram)
        except MalformedError:
            return "hs_malformed"
        link = self.links.get(self.drone_id)
        running = link.sending if link is not None else None
        if running is None or running.keys.session_id != session_id:
            return "hs_unknown"
        if not self._token_hash or not same(sha256(token), self._token_hash):
            return "hs_tag"
        if self.restart_seen:
            return "hs_repeated"
        self.restart_seen = True
        return "hs_taken"

    def _on_control(self, received: Received, source: Address, now: float) -> None:
        link = self.links[received.drone_id]
        for tlv in received.controls:
            if isinstance(tlv, control.Return):
                self.return_ticket = (tlv.serial, tlv.address_tag, tlv.return_key)
                self.send_control(control.got(tlv))
            elif isinstance(tlv, control.Restart):
                newest = link.sending
                if newest is not None and newest.keys.session_id == received.session_id:
                    self._token_hash = sha256(tlv.token)
                self.send_control(control.got(tlv))
            elif isinstance(tlv, control.Term):
                self.term_told = tlv.term
                self.send_control(control.got(tlv))
            elif isinstance(tlv, control.Got) and self.role_open is not None and control.got(self.role_open) == tlv:
                self.role_open = None
            elif isinstance(tlv, control.PathChallenge) and self.answers_challenges:
                self.send_control(control.PathResponse(tlv.random))
            elif isinstance(tlv, control.Handshake):
                self._on_session_handshake(tlv, now)

    def _on_session_handshake(self, tlv: control.Handshake, now: float) -> None:
        attempt = self._attempt
        if attempt is not None and attempt.transport.in_session and tlv.attempt == attempt.id:
            attempt.on_session_value(tlv.packet, tlv.frames, now)
            self._finish_attempt()

    def _pump(self, now: float) -> None:
        attempt = self._attempt
        if attempt is None:
            return
        for datagram in attempt.poll(now):
            if attempt.transport.in_session:
                tlv = control.Handshake(datagram[:8], int.from_bytes(datagram[8:12], "big"), datagram[12:])
                self.send_control(tlv)
            else:
                self._socket.sendto(datagram, self.gcs_address)

    def _deadline(self) -> float:
        return self._attempt.deadline() if self._attempt is not None else float("inf")

    def send(self, payload: bytes) -> bytes:
        """Sends one data frame; returns the datagram."""
        return self._send_sealed(self.drone_id, payload, KIND_DATA)

    def send_bundle(self, *datagrams: bytes) -> bytes:
        """Sends several as one frame; returns the datagram."""
        return self._send_sealed(self.drone_id, bundle.encode(datagrams), KIND_BUNDLE)

    def send_control(self, *tlvs: control.Tlv) -> bytes:
        """Sends one control frame; returns the datagram."""
        return self._send_tlvs(self.drone_id, *tlvs)

    def tell_role(self, role: int, term: int) -> bytes:
        """Says what this gcs is for the drone, once; `role_open` is None when it has answered."""
        self.role_open = control.Role(role, term)
        return self.send_control(self.role_open)

    def probe(self, timeout: float = 10.0) -> ProbeResult:
        """Asks the gcs for its clock."""
        return self._probe(self.drone_id, timeout)
