# SPDX-License-Identifier: Apache-2.0
"""The handshake without sockets: `feed` takes received bytes, returns bytes to send (docs/protocol.md section 4).

A peer's bad input never raises: it ends the handshake, `error` says why, and whatever `feed` returned (nothing, or a
Reject) is all that may still be sent before the connection is closed.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from . import keyschedule as ks
from . import messages as msg
from .encoding import FrameReader, frame_type
from .errors import AuthenticationError, LibraryError, MalformedError, RejectedError, WireError
from .messages import MessageType, RejectCode
from .oqs_library import kem_decapsulate, kem_encapsulate, kem_keypair, library_name, sig_sign, sig_verify
from .primitives import X25519_BYTES, same, x25519_public, x25519_shared
from .suites import Suite, suite_by_id

RandomBytes = Callable[[int], bytes]


class _Party:
    """What both ends share: one frame at a time in, the reply out, one final outcome."""

    def __init__(self, psk: bytes, random_bytes: RandomBytes) -> None:
        self._psk = psk
        self._random = random_bytes
        self._reader: FrameReader | None = None
        self._next: Callable[[bytes], bytes] | None = None
        self.transcript = ks.Transcript()
        self.keys: ks.SessionKeys | None = None
        self.error: WireError | None = None

    @property
    def finished(self) -> bool:
        """Whether it is over: `keys` are there, or `error` is."""
        return self.keys is not None or self.error is not None

    def feed(self, data: bytes) -> bytes:
        """Takes bytes of the stream; returns what to send, often nothing. Raises only when it is over already."""
        if self._reader is None or self._next is None:
            raise MalformedError("the handshake is over or has not begun: no bytes are due")
        try:
            whole_frame = self._reader.feed(data)
            return b"" if whole_frame is None else self._next(whole_frame)
        except RejectedError as error:
            reply = msg.reject(RejectCode(error.code)) if isinstance(self, Responder) else b""
            self._end(error)
            return reply
        except WireError as error:
            self._end(error)
            return b""

    def abort(self, error: WireError) -> None:
        """Ends the handshake for a reason of the transport, such as a closed connection."""
        if not self.finished:
            self._end(error)

    def _await(self, allowed: dict[int, msg.Limits], then: Callable[[bytes], bytes]) -> None:
        self._reader, self._next = FrameReader(allowed), then

    def _end(self, error: WireError | None = None) -> None:
        self.error, self._reader, self._next = error, None, None

    def _complete(self, suite: Suite, hello: msg.ClientHello, session_id: bytes) -> None:
        t = self.transcript
        self.keys = ks.SessionKeys(
            suite, session_id, hello.epoch, t.k_d2g, t.k_g2d, hello.hybrid, drone_signed=hello.drone_signs
        )
        self._end()


class Initiator(_Party):
    """The drone's end.

    `gcs_public` verifies the gcs for this suite's signature algorithm; a `sign_secret` makes the drone sign
    too. `previous` is (session_id, epoch) of the running session for a rekey.
    """

    def __init__(
        self,
        suite: Suite,
        drone_id: str,
        psk: bytes,
        gcs_public: bytes,
        *,
        hybrid: bool = True,
        sign_secret: bytes | None = None,
        previous: tuple[bytes, int] | None = None,
        random_bytes: RandomBytes = secrets.token_bytes,
    ) -> None:
        super().__init__(psk, random_bytes)
        self._suite = suite
        self._gcs_public = gcs_public
        self._sign_secret = sign_secret
        kem_name, sig_name = library_name(suite.kem), library_name(suite.sig)
        if kem_name is None or sig_name is None:
            raise LibraryError(f"this liboqs lacks an algorithm of {suite.id}")
        prev_session, running_epoch = previous if previous is not None else (msg.NO_SESSION, -1)
        self._hello = msg.ClientHello(
            drone_id=drone_id.encode("ascii"),
            client_nonce=random_bytes(msg.NONCE_BYTES),
            suite_id=suite.id.encode("ascii"),
            kem_name=kem_name.encode("ascii"),
            sig_name=sig_name.encode("ascii"),
            flags=msg.FLAG_HYBRID * hybrid | msg.FLAG_DRONE_SIGNS * (sign_secret is not None),
            prev_session=prev_session,
            epoch=running_epoch + 1,
        )
        self._await({MessageType.CHALLENGE: msg.CHALLENGE_LIMITS}, self._on_challenge)

    def _on_challenge(self, m0: bytes) -> bytes:
        msg.Challenge.parse(m0)
        t = self.transcript
        t.m0 = m0
        t.gate_key = ks.gate_key(self._psk)
        t.gate = ks.gate(t.gate_key, m0, self._hello.frame_without_gate())
        self._hello = self._hello.with_gate(t.gate)
        t.m1 = self._hello.frame()
        limits: dict[int, msg.Limits] = {
            MessageType.SERVER_HELLO: msg.server_hello_limits(self._suite, self._hello.hybrid),
            MessageType.REJECT: msg.REJECT_LIMITS,
        }
        self._await(limits, self._on_server_hello)
        return t.m1

    def _on_server_hello(self, m2: bytes) -> bytes:
        if frame_type(m2) == MessageType.REJECT:
            raise RejectedError(m2[-1], _reject_reason(m2[-1]))
        hello, t, suite = self._hello, self.transcript, self._suite
        server = msg.ServerHello.parse(m2, suite, hello.hybrid)
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
        self._await({MessageType.SERVER_FINISH: msg.SERVER_FINISH_LIMITS}, self._on_server_finish)
        return t.m3

    def _on_server_finish(self, m4: bytes) -> bytes:
        self.transcript.m4 = m4
        if not same(m4[-msg.MAC_BYTES :], self.transcript.confirm_s):
            raise AuthenticationError("the confirmation of the gcs does not verify")
        self._complete(self._suite, self._hello, self._session_id)
        return b""


@dataclass
class GcsPolicy:
    """What a gcs knows and allows.

    Signing keys are by signature token, drones' public keys by (drone_id, signature token). `sessions` tells, per
    drone, the epoch of each session that may be rekeyed. `allowed_suites` holds suite ids, None allows all.
    """

    psks: Mapping[str, bytes] = field(repr=False)
    sign_secrets: Mapping[str, bytes] = field(repr=False)
    drone_publics: Mapping[tuple[str, str], bytes] = field(default_factory=dict)
    require_signature: frozenset[str] = frozenset()
    allow_pure: bool = True
    allowed_suites: frozenset[str] | None = None
    sessions: Mapping[str, Mapping[bytes, int]] = field(default_factory=dict)
    busy: bool = False


class Responder(_Party):
    """The gcs' end of one connection. `drone_id` is known, and trusted, once `gated` is true."""

    def __init__(self, policy: GcsPolicy, random_bytes: RandomBytes = secrets.token_bytes) -> None:
        super().__init__(b"", random_bytes)
        self._policy = policy
        self.gated = False
        self.drone_id = ""

    def start(self) -> bytes:
        """M0, to be sent on connecting."""
        self.transcript.m0 = msg.Challenge(self._random(msg.COOKIE_BYTES)).frame()
        self._await({MessageType.CLIENT_HELLO: msg.CLIENT_HELLO_LIMITS}, self._on_client_hello)
        return self.transcript.m0

    def _on_client_hello(self, m1: bytes) -> bytes:
        hello = msg.ClientHello.parse(m1)
        self._check_gate(hello, m1)
        suite = self._check_policy(hello)
        t = self.transcript
        t.m1 = m1
        session_id = self._random(msg.SESSION_ID_BYTES)
        while session_id == msg.NO_SESSION:
            session_id = self._random(msg.SESSION_ID_BYTES)
        own_public = b""
        if hello.hybrid:
            t.x25519_scalar = self._random(X25519_BYTES)
            own_public = x25519_public(t.x25519_scalar)
        kem_public, t.kem_secret_key = kem_keypair(suite.kem)
        server = msg.ServerHello(session_id, self._random(msg.NONCE_BYTES), hello.epoch, kem_public, own_public)
        t.signed_hash = ks.server_hello_hash(t.m0, m1, server.unsigned_body())
        secret = self._policy.sign_secrets[suite.sig.token]
        t.m2 = replace(server, signature=sig_sign(suite.sig, secret, ks.SIGN_LABEL + t.signed_hash)).frame()
        t.h2 = ks.hash_2(t.m0, t.m1, t.m2)
        self._suite, self._hello, self._session_id = suite, hello, session_id
        limits = msg.client_finish_limits(suite, hello.hybrid, hello.drone_signs)
        self._await({MessageType.CLIENT_FINISH: limits}, self._on_client_finish)
        return t.m2

    def _check_gate(self, hello: msg.ClientHello, m1: bytes) -> None:
        drone_id = hello.drone_id.decode("ascii")
        known = drone_id in self._policy.psks
        # a stranger's hello costs the same HMAC, under a key that nobody has
        self._psk = self._policy.psks[drone_id] if known else secrets.token_bytes(32)
        t = self.transcript
        t.gate_key = ks.gate_key(self._psk)
        t.gate = ks.gate(t.gate_key, t.m0, m1[: -msg.MAC_BYTES])
        if not same(t.gate, hello.gate) or not known:
            raise AuthenticationError("the gate does not verify: unknown drone_id or another PSK")
        self.gated, self.drone_id = True, drone_id

    def _check_policy(self, hello: msg.ClientHello) -> Suite:
        """Docs/protocol.md section 4, Reject codes, in the order 1, 2, 3, 6, 4, 5."""
        policy, suite = self._policy, suite_by_id(hello.suite_id.decode("latin-1"))
        if suite is None:
            raise _rejection(RejectCode.SUITE_UNKNOWN)
        unsigned = self.drone_id in policy.require_signature and not hello.drone_signs
        disallowed = policy.allowed_suites is not None and suite.id not in policy.allowed_suites
        unverifiable = hello.drone_signs and (self.drone_id, suite.sig.token) not in policy.drone_publics
        if disallowed or unsigned or unverifiable or (not hello.hybrid and not policy.allow_pure):
            raise _rejection(RejectCode.SUITE_NOT_ALLOWED)
        names = (library_name(suite.kem), library_name(suite.sig))
        offered = (hello.kem_name.decode("latin-1"), hello.sig_name.decode("latin-1"))
        if names != offered or suite.sig.token not in policy.sign_secrets:
            raise _rejection(RejectCode.ALGORITHM_UNAVAILABLE)
        expected_epoch = 0
        if hello.prev_session != msg.NO_SESSION:
            running = policy.sessions.get(self.drone_id, {})
            if hello.prev_session not in running:
                raise _rejection(RejectCode.SESSION_UNKNOWN)
            expected_epoch = running[hello.prev_session] + 1
        if hello.epoch != expected_epoch:
            raise _rejection(RejectCode.EPOCH)
        if policy.busy:
            raise _rejection(RejectCode.BUSY)
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
        t.derive(self._psk, suite, self._session_id, hello.epoch)
        if not same(t.confirm_c, finish.confirm):
            raise AuthenticationError("the confirmation of the drone does not verify")
        t.m4 = msg.server_finish(t.confirm_s)
        self._complete(suite, hello, self._session_id)
        return t.m4


def _reject_reason(code: int) -> str:
    try:
        return RejectCode(code).name.lower().replace("_", " ")
    except ValueError:
        return "a code this version does not know"


def _rejection(code: RejectCode) -> RejectedError:
    return RejectedError(code, _reject_reason(code))
