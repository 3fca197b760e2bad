# SPDX-License-Identifier: Apache-2.0
"""The handshake without sockets: `feed` takes one whole frame and returns the answer (docs/protocol.md section 4).

A peer's bad input never raises: it ends the handshake, `error` says why, and what `feed` returned (nothing, or a
Reject) is all that may still be sent.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from . import keyschedule as ks
from . import messages as msg
from . import proofs
from .encoding import Limits, check_frame, frame_type
from .errors import AuthenticationError, LibraryError, MalformedError, RejectedError, WireError
from .messages import Lacks, MessageType, RejectCode
from .oqs_library import kem_decapsulate, kem_encapsulate, kem_keypair, library_name, offers, sig_sign, sig_verify
from .primitives import X25519_BYTES, same, x25519_public, x25519_shared
from .suites import Suite, suite_by_id

RandomBytes = Callable[[int], bytes]


ReturnTicket = tuple[int, bytes, bytes]
"""(serial, address tag, key) of the newest RETURN that a drone got (section 6)."""


@dataclass(frozen=True)
class Previous:
    """The running session that a rekey follows; only its session id, epoch and `ck` matter."""

    session_id: bytes
    epoch: int
    ck: bytes = field(repr=False)


class Party:
    """What both ends share: one frame at a time in, the reply out, one final outcome."""

    def __init__(self, psk: bytes, random_bytes: RandomBytes) -> None:
        self._psk = psk
        self._random = random_bytes
        self._allowed: dict[int, Limits] = {}
        self._next: Callable[[bytes], bytes] | None = None
        self._agreed = (0, 0, 0)  # features, and where this end and the other one receive compact frames
        self.transcript = ks.Transcript()
        self.keys: ks.SessionKeys | None = None
        self.error: WireError | None = None

    @property
    def finished(self) -> bool:
        """Whether it is over: `keys` are there, or `error` is."""
        return self.keys is not None or self.error is not None

    @property
    def allowed(self) -> dict[int, Limits]:
        """The message types that may come next, with their shortest and longest body."""
        return dict(self._allowed)

    def feed(self, whole_frame: bytes) -> bytes:
        """Takes a frame; returns what to send, often nothing. Raises only when no frame is due at all."""
        if self._next is None:
            raise MalformedError("the handshake is over or has not begun: no frame is due")
        try:
            check_frame(whole_frame, self._allowed)
            return self._next(whole_frame)
        except WireError as error:
            self._end(error)
            return b""

    def abort(self, error: WireError) -> None:
        """Ends the handshake for a reason of the transport, such as a time limit."""
        if not self.finished:
            self._end(error)

    def _await(self, allowed: dict[int, Limits], then: Callable[[bytes], bytes]) -> None:
        self._allowed, self._next = allowed, then

    def _end(self, error: WireError | None = None) -> None:
        self.error, self._next = error, None
        self._allowed = {}

    def _complete(self, suite: Suite, hello: msg.ClientHello, session_id: bytes) -> None:
        t = self.transcript
        features, own_index, peer_index = self._agreed
        has_role = bool(features & msg.FEATURE_STATIONS) and hello.prev_session == msg.NO_SESSION
        self.keys = ks.SessionKeys(
            *(suite, session_id, hello.epoch, t.k_d2g, t.k_g2d, t.ck, hello.hybrid, hello.drone_signs),
            *(features, own_index, peer_index),
            *((hello.standby, hello.term) if has_role else (False, 0)),
        )
        self._end()


class Initiator(Party):
    """The drone's end.

    `psk` is the one of this drone and this gcs. `gcs_public` verifies the gcs for this suite's signature algorithm; a
    `sign_secret` makes the drone sign too. `previous` is the running session for a rekey. With compact headers among
    the `features`, `index` is where the drone receives; with roles among them, `standby` and `term` say the first one.
    """

    def __init__(
        self,
        suite: Suite,
        drone_id: str,
        psk: bytes,
        gcs_public: bytes,
        *,
        gcs_id: str = "gcs",
        hybrid: bool = True,
        sign_secret: bytes | None = None,
        previous: Previous | None = None,
        return_ticket: ReturnTicket | None = None,
        max_datagram: int = msg.LARGEST_DATAGRAM_BYTES,
        features: int = 0,
        index: int = 0,
        standby: bool = False,
        term: int = 0,
        random_bytes: RandomBytes = secrets.token_bytes,
    ) -> None:
        super().__init__(psk, random_bytes)
        self.suite = suite
        self._gcs_public = gcs_public
        self._sign_secret = sign_secret
        self.retry_ms = 0
        if not offers(suite):
            raise LibraryError(f"this liboqs lacks an algorithm of {suite.id}")
        self.transcript.ck_prev = previous.ck if previous else b""
        hello = msg.ClientHello(
            drone_id=drone_id.encode("ascii"),
            gcs_id=gcs_id.encode("ascii"),
            client_nonce=random_bytes(msg.NONCE_BYTES),
            suite_id=suite.id.encode("ascii"),
            kem_name=suite.kem.name.encode("ascii"),
            sig_name=suite.sig.name.encode("ascii"),
            flags=msg.FLAG_HYBRID * hybrid
            | msg.FLAG_DRONE_SIGNS * (sign_secret is not None)
            | msg.FLAG_STANDBY * standby,
            prev_session=previous.session_id if previous else msg.NO_SESSION,
            epoch=(previous.epoch + 1) % 256 if previous else 0,
            features=features,
            index=index if features & ks.FEATURE_COMPACT else 0,
            max_datagram=max_datagram,
            term=term,
        )
        self.hello = hello if return_ticket is None else proofs.with_return_proof(hello, *return_ticket)

    def start(self) -> bytes:
        """M1."""
        t = self.transcript
        t.gate_key = ks.gate_key(self._psk)
        t.gate = ks.gate(t.gate_key, t.m0, self.hello.frame_without_gate())
        self.hello = self.hello.with_gate(t.gate)
        t.m1 = self.hello.frame()
        limits: dict[int, Limits] = {
            MessageType.SERVER_HELLO: msg.server_hello_limits(self.suite, self.hello.hybrid),
            MessageType.REJECT: msg.REJECT_LIMITS,
        }
        self._await(limits, self._on_server_hello)
        return t.m1

    def _on_reject(self, frame: bytes) -> bytes:
        """A bad mac changes nothing; code 5 keeps the attempt and sets `retry_ms`; every other code ends it."""
        reject, t = msg.Reject.parse(frame), self.transcript
        if not same(reject.mac, ks.reject_mac(self._psk, t.m0, t.m1, reject.code, reject.retry_ms)):
            return b""
        if reject.code == RejectCode.BUSY:
            self.retry_ms = min(max(reject.retry_ms, 100), 10_000)
            return b""
        raise RejectedError(reject.code, _reject_reason(reject.code), reject.retry_ms)

    def _on_server_hello(self, m2: bytes) -> bytes:
        if frame_type(m2) == MessageType.REJECT:
            return self._on_reject(m2)
        hello, t, suite = self.hello, self.transcript, self.suite
        server = msg.ServerHello.parse(m2, suite, hello.hybrid, hello.features)
        if server.epoch != hello.epoch:
            raise MalformedError(f"the ServerHello is for epoch {server.epoch}, asked was {hello.epoch}")
        if server.session_id == msg.NO_SESSION:
            raise MalformedError("the ServerHello has session_id zero, which means no session")
        t.m2 = m2
        t.signed_hash = ks.server_hello_hash(t.m0, t.m1, server.unsigned_body())
        sig_verify(suite.sig, self._gcs_public, ks.SIGN_LABEL + t.signed_hash, server.signature)

        ciphertext, t.ss_kem = kem_encapsulate(suite.kem, server.kem_public)
        own_public = b""
        if hello.hybrid:
            t.x25519_scalar = self._random(X25519_BYTES)
            own_public = x25519_public(t.x25519_scalar)
            t.ss_x25519 = x25519_shared(t.x25519_scalar, server.x25519_public)
        t.h2 = ks.hash_2(t.m0, t.m1, t.m2)
        t.h3 = ks.hash_3(t.h2, ciphertext, own_public)
        signature = None
        if self._sign_secret is not None:
            signature = sig_sign(suite.sig, self._sign_secret, ks.DRONE_SIGN_LABEL + t.h3)
        t.t3 = ks.transcript_3(t.h3, signature)
        t.derive(self._psk, suite, server.session_id, hello.epoch)
        t.m3 = msg.ClientFinish(ciphertext, own_public, signature or b"", t.confirm_c).frame()
        self._session_id = server.session_id
        self._agreed = (server.features, hello.index, server.index)
        self._await({MessageType.SERVER_FINISH: msg.SERVER_FINISH_LIMITS}, self._on_server_finish)
        return t.m3

    def _on_server_finish(self, m4: bytes) -> bytes:
        self.transcript.m4 = m4
        if not same(m4[-msg.MAC_BYTES :], self.transcript.confirm_s):
            raise AuthenticationError("the confirmation of the gcs does not verify")
        self._complete(self.suite, self.hello, self._session_id)
        return b""


@dataclass
class GcsPolicy:
    """What a gcs knows and allows.

    `psks` are those of each drone and this gcs. Signing keys are by signature token, drones' public keys by (drone_id,
    signature token). `sessions` holds, per drone, what may be rekeyed. `allowed_suites` holds suite ids, None allows
    all; `avoid` has the bits of families with which no keys are made, and a Reject 2 tells them. `busy` is the
    `retry_ms` of a Reject 5, None when there is room.
    """

    psks: Mapping[str, bytes] = field(repr=False)
    sign_secrets: Mapping[str, bytes] = field(repr=False)
    drone_publics: Mapping[tuple[str, str], bytes] = field(default_factory=dict)
    require_signature: frozenset[str] = frozenset()
    allow_pure: bool = True
    allowed_suites: frozenset[str] | None = None
    avoid: int = 0
    sessions: Mapping[str, Previous] = field(default_factory=dict)
    busy: int | None = None
    gcs_id: str = "gcs"
    features: int = 0
    indices: Iterator[int] = field(default_factory=itertools.count)

    def agree(self, hello: msg.ClientHello) -> tuple[int, int]:
        """(features, own index) for M2. An index is never given out twice, so that compact headers end at 65,535."""
        features = hello.features & self.features
        if not features & ks.FEATURE_COMPACT:
            return features, 0
        index = next(self.indices)
        return (features, index) if index <= 0xFFFF else (features & ~ks.FEATURE_COMPACT, 0)


class Responder(Party):
    """The gcs' end of one attempt. `drone_id` is known, and trusted, once `gated` is true.

    `inside` is (drone_id, session id) of the session whose frames carry the messages, None outside.
    """

    def __init__(
        self,
        policy: GcsPolicy,
        random_bytes: RandomBytes = secrets.token_bytes,
        inside: tuple[str, bytes] | None = None,
    ) -> None:
        super().__init__(b"", random_bytes)
        self._policy = policy
        self._inside = inside
        self.gated = False
        self.drone_id = ""
        self.session_id = b""
        self._await({MessageType.CLIENT_HELLO: msg.CLIENT_HELLO_LIMITS}, self._on_client_hello)

    def _on_client_hello(self, m1: bytes) -> bytes:
        hello = msg.ClientHello.parse(m1)
        self._check_place(hello)
        self._check_gate(hello, m1)
        t = self.transcript
        t.m1 = m1
        try:
            suite = self._check_policy(hello)
        except RejectedError as error:
            self._end(error)
            mac = ks.reject_mac(self._psk, t.m0, m1, error.code, error.detail)
            return msg.Reject(error.code, error.detail, mac).frame()
        session_id = self._random(msg.SESSION_ID_BYTES)
        while session_id == msg.NO_SESSION or any(session_id == s.session_id for s in self._policy.sessions.values()):
            session_id = self._random(msg.SESSION_ID_BYTES)
        own_public = b""
        if hello.hybrid:
            t.x25519_scalar = self._random(X25519_BYTES)
            own_public = x25519_public(t.x25519_scalar)
        kem_public, t.kem_secret_key = kem_keypair(suite.kem)
        features, index = self._policy.agree(hello)
        self._agreed = (features, index, hello.index)
        server = msg.ServerHello(
            *(session_id, self._random(msg.NONCE_BYTES), hello.epoch, kem_public, own_public),
            features=features,
            index=index,
        )
        t.signed_hash = ks.server_hello_hash(t.m0, m1, server.unsigned_body())
        secret = self._policy.sign_secrets[suite.sig.token]
        t.m2 = replace(server, signature=sig_sign(suite.sig, secret, ks.SIGN_LABEL + t.signed_hash)).frame()
        t.h2 = ks.hash_2(t.m0, t.m1, t.m2)
        self._suite, self._hello, self.session_id = suite, hello, session_id
        limits = msg.client_finish_limits(suite, hello.hybrid, hello.drone_signs)
        self._await({MessageType.CLIENT_FINISH: limits}, self._on_client_finish)
        return t.m2

    def _check_place(self, hello: msg.ClientHello) -> None:
        if self._inside is None:
            if hello.prev_session != msg.NO_SESSION:
                raise MalformedError("a first handshake names a previous session")
            return
        drone_id, session_id = self._inside
        if (hello.drone_id, hello.gcs_id) != (drone_id.encode("ascii"), self._policy.gcs_id.encode("ascii")):
            raise MalformedError("a rekey names other ends than the session that carries it")
        if hello.prev_session != session_id:
            raise MalformedError("a rekey names another session than the one that carries it")

    def _check_gate(self, hello: msg.ClientHello, m1: bytes) -> None:
        drone_id = hello.drone_id.decode("ascii")
        known = drone_id in self._policy.psks
        # a stranger's hello costs the same HMAC, under a key that nobody has
        self._psk = self._policy.psks[drone_id] if known else secrets.token_bytes(32)
        t = self.transcript
        t.gate_key = ks.gate_key(self._psk)
        t.gate = ks.gate(t.gate_key, t.m0, m1[: -msg.MAC_BYTES])
        if not same(t.gate, hello.gate) or not known or hello.gcs_id != self._policy.gcs_id.encode("ascii"):
            raise AuthenticationError("the gate does not verify: unknown drone_id, another PSK or another gcs_id")
        self.gated, self.drone_id = True, drone_id

    def _check_policy(self, hello: msg.ClientHello) -> Suite:
        """Docs/protocol.md section 4, Reject codes, in the order 1, 2, 3, 4, 5."""
        policy, suite = self._policy, suite_by_id(hello.suite_id.decode("latin-1"))
        if suite is None:
            raise _rejection(RejectCode.SUITE_UNKNOWN)
        if suite.families & policy.avoid:
            raise _rejection(RejectCode.SUITE_NOT_ALLOWED, policy.avoid)
        unsigned = self.drone_id in policy.require_signature and not hello.drone_signs
        disallowed = policy.allowed_suites is not None and suite.id not in policy.allowed_suites
        unverifiable = hello.drone_signs and (self.drone_id, suite.sig.token) not in policy.drone_publics
        if disallowed or unsigned or unverifiable or (not hello.hybrid and not policy.allow_pure):
            raise _rejection(RejectCode.SUITE_NOT_ALLOWED)
        pairs = ((suite.kem, hello.kem_name), (suite.sig, hello.sig_name))
        lacks = [library_name(own) is None or own.name != name.decode("latin-1") for own, name in pairs]
        if any(lacks):
            raise _rejection(RejectCode.ALGORITHM_UNAVAILABLE, Lacks.KEM * lacks[0] + Lacks.SIGNATURE * lacks[1])
        if suite.sig.token not in policy.sign_secrets:
            raise _rejection(RejectCode.ALGORITHM_UNAVAILABLE, Lacks.SIGNING_KEY)
        expected_epoch = 0
        if self._inside is not None:
            running = policy.sessions.get(self.drone_id)
            if running is None or running.session_id != hello.prev_session:
                raise MalformedError("a rekey inside a session that is no longer the newest")
            self.transcript.ck_prev = running.ck
            expected_epoch = (running.epoch + 1) % 256
        if hello.epoch != expected_epoch:
            raise _rejection(RejectCode.EPOCH)
        if policy.busy is not None:
            raise _rejection(RejectCode.BUSY, policy.busy)
        return suite

    def _on_client_finish(self, m3: bytes) -> bytes:
        hello, suite, t = self._hello, self._suite, self.transcript
        finish = msg.ClientFinish.parse(m3, suite, hello.hybrid, hello.drone_signs)
        t.m3 = m3
        t.h3 = ks.hash_3(t.h2, finish.kem_ciphertext, finish.x25519_public)
        if hello.drone_signs:
            public = self._policy.drone_publics[self.drone_id, suite.sig.token]
            sig_verify(suite.sig, public, ks.DRONE_SIGN_LABEL + t.h3, finish.drone_signature)
        t.t3 = ks.transcript_3(t.h3, finish.drone_signature if hello.drone_signs else None)
        t.ss_kem = kem_decapsulate(suite.kem, t.kem_secret_key, finish.kem_ciphertext)
        if hello.hybrid:
            t.ss_x25519 = x25519_shared(t.x25519_scalar, finish.x25519_public)
        t.derive(self._psk, suite, self.session_id, hello.epoch)
        if not same(t.confirm_c, finish.confirm):
            raise AuthenticationError("the confirmation of the drone does not verify")
        t.m4 = msg.server_finish(t.confirm_s)
        self._complete(suite, hello, self.session_id)
        return t.m4


def _reject_reason(code: int) -> str:
    try:
        return RejectCode(code).name.lower().replace("_", " ")
    except ValueError:
        return "a code this version does not know"


def _rejection(code: RejectCode, detail: int = 0) -> RejectedError:
    return RejectedError(code, _reject_reason(code), detail)
