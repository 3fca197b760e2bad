# SPDX-License-Identifier: Apache-2.0
"""The gcs' handshakes without sockets: the gate, Retry, limits, attempts (docs/protocol.md sections 4-6, 13)."""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field, replace

from . import messages as msg
from .attempt import NO_PROGRESS_S, total_limit_s
from .encoding import FRAME_HEADER_BYTES, check_frame
from .errors import AuthenticationError, MalformedError, RejectedError, WireError
from .handshake import GcsPolicy, Previous, RandomBytes, Responder
from .hsframes import FragmentKeys, Frame, HandshakeDatagram, parse_frames, seal_datagram, seal_retry
from .keyschedule import SessionKeys, gate, gate_key
from .messages import MessageType, RejectCode
from .primitives import same
from .proofs import Address, CookieJar, ProofVerdict, check_return_proof
from .ratchet import RatchetResponder
from .suites import suite_by_id
from .transport import ELSEWHERE, Transport, single

LINGER_S = 30.0
ENDED_KEPT = 256
UNANSWERED_FREE = 8
COSTLY_M2_BYTES = 16_384
GATES_PER_S, DATAGRAMS_PER_S = 200, 5_000
PER_DRONE, PER_DRONE_PROVEN, PER_DRONE_AND_IP = 2, 4, 2
MAX_HANDSHAKES = 16
M2_PER_S, M2_BURST = 5.0, 20.0
BUSY_RETRY_MS = 1_000


@dataclass(frozen=True)
class Completed:
    """A handshake whose M3 verified, and the addresses that answered in it."""

    drone_id: str
    keys: SessionKeys
    addresses: list[Address]


@dataclass
class _Record:
    """One attempt behind the gate."""

    drone_id: str
    attempt: bytes
    keys: FragmentKeys | None
    transport: Transport
    responder: Responder | RatchetResponder
    began: float
    number: int
    proven: bool = False
    addresses: list[Address] = field(default_factory=list)
    done_at: float | None = None

    m1: bytes = b""
    elsewhere: Address = ("", 0)

    def path(self, address: Address) -> int:
        """The path of an address."""
        return self.addresses.index(address) if address in self.addresses else ELSEWHERE

    @property
    def answered(self) -> bool:
        """Whether any of its addresses did; all within a session do."""
        return self.keys is None or self.transport.answered


@dataclass
class _Bucket:
    level: float = M2_BURST
    at: float = 0.0

    def holds(self, now: float) -> bool:
        """Whether there is a token."""
        self.level = min(M2_BURST, self.level + (now - self.at) * M2_PER_S)
        self.at = now
        return self.level >= 1.0

    def take(self, now: float) -> bool:
        """Takes a token if there is one."""
        if not self.holds(now):
            return False
        self.level -= 1.0
        return True


@dataclass
class _Second:
    """What came in the running second (Retry's condition d)."""

    start: float = 0.0
    gates: int = 0
    datagrams: int = 0

    def at(self, now: float) -> _Second:
        """Begins anew each second."""
        if now - self.start >= 1.0:
            self.start, self.gates, self.datagrams = now, 0, 0
        return self


class Station:
    """Every attempt of one gcs. Its policy's `sessions` and `busy` are set here; `serial` is the calendar's.

    `running` holds, per drone, the keys that a ratchet follows; with `keys_old` none is answered.
    """

    def __init__(
        self,
        policy: GcsPolicy,
        *,
        restart_key: bytes,
        random_bytes: RandomBytes = secrets.token_bytes,
        demand_cookie: bool = False,
        max_datagram: int = msg.LARGEST_DATAGRAM_BYTES,
        serial: int = 0,
    ) -> None:
        self.policy = policy
        self.serial = serial
        self.demand_cookie = demand_cookie
        self.sessions: dict[str, Previous] = {}
        self.running: dict[str, SessionKeys] = {}
        self.keys_old = False
        self.completed: deque[Completed] = deque()
        self.refused: deque[WireError] = deque()
        self.counters: Counter[str] = Counter()
        self._random = random_bytes
        self._restart_key = restart_key
        self._max_datagram = max_datagram
        self._jar = CookieJar(random_bytes(32))
        self._records: dict[tuple[str, bytes], _Record] = {}
        self._inside: dict[str, _Record] = {}
        self._ended: dict[str, deque[bytes]] = defaultdict(lambda: deque(maxlen=ENDED_KEPT))
        self._proofs: dict[str, deque[tuple[bytes, bytes]]] = defaultdict(lambda: deque(maxlen=ENDED_KEPT))
        self._buckets: dict[tuple[str, bool, bool], _Bucket] = defaultdict(_Bucket)
        self._second = _Second()
        self._begun = 0
        self._out: list[tuple[Address, bytes]] = []
        self._inside_out: list[tuple[str, bytes]] = []

    # --- outside a session

    def on_datagram(self, datagram: bytes, source: Address, now: float) -> str:
        """A datagram that begins with 0x33; returns the outcome that counts it."""
        outcome = self._judge(datagram, source, now)
        self.counters[outcome] += 1
        return outcome

    def _judge(self, datagram: bytes, source: Address, now: float) -> str:
        self._second.at(now).datagrams += 1
        try:
            parsed = HandshakeDatagram.parse(datagram)
        except MalformedError:
            return "hs_malformed"
        fragment = parsed.hello
        if fragment is not None:
            try:
                hello = _parse_hello(fragment.data)
            except MalformedError:
                return "hs_malformed"
            return self._on_hello(parsed, hello, fragment.data, source, now)
        candidates = [record for (_, attempt), record in self._records.items() if attempt == parsed.attempt]
        for record in candidates:
            if record.keys is not None and parsed.verifies(record.keys):
                return self._feed(record, parsed, source, now)
        return "hs_tag" if candidates else "hs_unknown"

    def _on_hello(
        self, parsed: HandshakeDatagram, hello: msg.ClientHello, m1: bytes, source: Address, now: float
    ) -> str:
        """Section 4, order at the gcs."""
        drone_id = hello.drone_id.decode("ascii")
        psk = self.policy.psks.get(drone_id, secrets.token_bytes(32))
        keys = FragmentKeys.derive(psk, parsed.attempt)
        verifies = parsed.verifies(keys)
        if hello.gcs_id.decode("ascii") != self.policy.gcs_id:
            return "hs_gate"
        if not verifies:
            return "hs_tag"
        cookie_good = parsed.cookie is not None and self._jar.good(parsed.cookie, source, parsed.attempt, m1, now)
        record = self._records.get((drone_id, parsed.attempt))
        if record is not None:
            if cookie_good and record.done_at is None:
                self._answered(record, source)
            return self._feed(record, parsed, source, now)
        if not same(gate(gate_key(psk), msg.M0, m1[: -msg.MAC_BYTES]), hello.gate):
            return "hs_gate"
        if parsed.attempt in self._ended[drone_id]:
            return "hs_replay"
        self._second.at(now).gates += 1
        proof = check_return_proof(self._restart_key, hello, source[0], self.serial)
        if any(hello.return_proof == used and parsed.attempt != by for used, by in self._proofs[drone_id]):
            proof = ProofVerdict()
        bucket = self._buckets[drone_id, proof.good and cookie_good, cookie_good]
        if not cookie_good and (self._wants_cookie(drone_id, hello, proof.good) or not bucket.holds(now)):
            self._retry(keys, parsed.attempt, m1, source, now)
            return "hs_limit"
        return self._begin(parsed, hello, keys, source, now, proof, cookie_good, bucket)

    def _retry(self, keys: FragmentKeys, attempt: bytes, m1: bytes, source: Address, now: float) -> None:
        cookie = self._jar.make(source, attempt, m1, now)
        self._out.append((source, seal_retry(keys, attempt, cookie)))

    @staticmethod
    def _answered(record: _Record, source: Address) -> None:
        if source in record.addresses:
            record.transport.answered_by(record.path(source))
            return
        path = record.transport.join(len(record.addresses))
        record.addresses[path : path + 1] = [source]

    def _wants_cookie(self, drone_id: str, hello: msg.ClientHello, proven: bool) -> bool:
        """Section 6; a proof may be a copy."""
        running = [record for record in self._records.values() if record.done_at is None]
        unanswered = [record for record in running if not record.answered]
        suite = suite_by_id(hello.suite_id.decode("latin-1"))
        costly = suite is not None and (
            msg.server_hello_limits(suite, hello.hybrid)[1] + FRAME_HEADER_BYTES > COSTLY_M2_BYTES
        )
        busy = self._second.gates > GATES_PER_S or self._second.datagrams > DATAGRAMS_PER_S
        of_drone = any(record.drone_id == drone_id for record in unanswered)
        full = not proven and sum(not record.proven for record in running) >= MAX_HANDSHAKES
        return self.demand_cookie or len(unanswered) >= UNANSWERED_FREE or of_drone or costly or busy or full

    def _begin(
        self,
        parsed: HandshakeDatagram,
        hello: msg.ClientHello,
        keys: FragmentKeys,
        source: Address,
        now: float,
        proof: ProofVerdict,
        cookie_good: bool,
        bucket: _Bucket,
    ) -> str:
        drone_id = hello.drone_id.decode("ascii")
        m1 = parsed.hello.data if parsed.hello is not None else b""
        room = not cookie_good or self._has_room(drone_id, source, proof.good)
        refusal = Responder(replace(self.policy, busy=None if room else BUSY_RETRY_MS, sessions=self.sessions))
        if room:
            refusal = self._responder()
        reply = refusal.feed(m1)
        if reply and reply[4] != MessageType.REJECT and not bucket.take(now):
            refusal = Responder(replace(self.policy, busy=BUSY_RETRY_MS, sessions=self.sessions))
            reply = refusal.feed(m1)
        if not reply:
            return "hs_malformed"
        if reply[4] == MessageType.REJECT:
            packet = int.from_bytes(self._random(4), "big") >> 1
            frames = single(reply).pack()
            sealed = seal_datagram(keys, is_drone=False, attempt=parsed.attempt, packet=packet, frames=frames)
            self._out.append((source, sealed))
            error = refusal.error or WireError("refused")
            self.refused.append(error)
            is_busy = isinstance(error, RejectedError) and error.code == RejectCode.BUSY
            return "hs_limit" if is_busy else "hs_taken"
        transport = Transport(
            is_drone=False,
            attempt=parsed.attempt,
            keys=keys,
            now=now,
            first_packet=int.from_bytes(self._random(4), "big") >> 1,
            limit=self._limit_for(hello),
        )
        transport.expect({MessageType.CLIENT_HELLO: msg.CLIENT_HELLO_LIMITS})
        self._begun += 1
        record = _Record(drone_id, parsed.attempt, keys, transport, refusal, now, self._begun, proof.good)
        self._records[drone_id, parsed.attempt] = record
        record.m1 = m1
        if proof.good:
            self._proofs[drone_id].append((hello.return_proof, parsed.attempt))
        record.addresses.append(source)
        if cookie_good:
            transport.answered_by(0)
        elif proof.address_fits:
            transport.lift()
        transport.on_datagram(parsed.packet, parsed.frames, 0, len(parsed.raw), now)
        transport.take_message()
        transport.start(reply, now)
        transport.expect(refusal.allowed)
        return "hs_taken"

    def _limit_for(self, hello: msg.ClientHello) -> int:
        below = min(hello.max_datagram, self._max_datagram) < msg.LARGEST_DATAGRAM_BYTES
        return msg.SMALLEST_DATAGRAM_BYTES if below else msg.LARGEST_DATAGRAM_BYTES

    def _responder(self, inside: tuple[str, bytes] | None = None) -> Responder:
        return Responder(replace(self.policy, sessions=self.sessions), self._random, inside)

    def _has_room(self, drone_id: str, source: Address, proven: bool) -> bool:
        """Section 13's limits on attempts with an answer."""
        running = [record for record in self._records.values() if record.done_at is None and record.answered]
        own = [record for record in running if record.drone_id == drone_id]
        if sum(any(a[0] == source[0] for a in record.addresses) for record in own) >= PER_DRONE_AND_IP:
            return False
        if proven:
            return len(own) < PER_DRONE_PROVEN
        unproven = [record for record in running if not record.proven]
        return len([r for r in own if not r.proven]) < PER_DRONE and len(unproven) < MAX_HANDSHAKES

    def _feed(self, record: _Record, parsed: HandshakeDatagram, source: Address, now: float) -> str:
        path = record.path(source)
        if path == ELSEWHERE:
            record.elsewhere = source
            if record.done_at is None and record.keys is not None:
                self._retry(record.keys, record.attempt, record.m1, source, now)
        took = record.transport.on_datagram(parsed.packet, parsed.frames, path, len(parsed.raw), now)
        self._on_message(record, path, now)
        return took.value

    def _on_message(self, record: _Record, path: int, now: float) -> None:
        message = record.transport.take_message()
        if message is None or record.done_at is not None:
            return
        reply = record.responder.feed(message)
        if not reply or record.responder.keys is None:
            if reply and isinstance(record.responder, RatchetResponder):
                self._refuse_inside(record.drone_id, record.attempt, reply)
            self.refused.append(record.responder.error or AuthenticationError("M3 does not verify"))
            self._forget(record)
            return
        if isinstance(record.responder, RatchetResponder):
            record.transport.start(reply, now)  # until a packet under the new keys comes
        else:
            record.transport.finish(reply, path, now)
        record.done_at = now
        answered = [address for address in record.addresses if record.transport.has_answered(record.path(address))]
        self.completed.append(Completed(record.drone_id, record.responder.keys, answered))
        for other in list(self._records.values()):
            if other.drone_id == record.drone_id and other.number < record.number and other.done_at is None:
                self._forget(other)

    def _forget(self, record: _Record) -> None:
        if record.keys is None:
            self._inside.pop(record.drone_id, None)
        else:
            self._records.pop((record.drone_id, record.attempt), None)
            self._ended[record.drone_id].append(record.attempt)

    # --- inside a session

    def on_session_value(
        self, drone_id: str, session_id: bytes, attempt: bytes, packet: int, frames: bytes, now: float
    ) -> str:
        """A TLV 32 that came in this drone's session; its outcome is not counted, for the datagram is a control one."""
        try:
            parsed = parse_frames(frames, from_drone=True, is_session=True)
            first = parsed[0]
            m1 = first.data if getattr(first, "message", 0) == 1 and hasattr(first, "data") else None
            if m1 is not None:
                _parse_hello(m1)
        except MalformedError:
            return "hs_malformed"
        record = self._inside.get(drone_id)
        if record is None or record.attempt != attempt:
            if getattr(first, "message", 0) == MessageType.RATCHET_HELLO and hasattr(first, "data"):
                return self._begin_ratchet(drone_id, session_id, attempt, packet, parsed, len(frames), now)
            if m1 is None:
                return "hs_unknown"
            if attempt in self._ended[drone_id]:
                return "hs_replay"
            return self._begin_inside(drone_id, session_id, attempt, packet, m1, now)
        took = record.transport.on_datagram(packet, parsed, 0, len(frames), now)
        self._on_message(record, 0, now)
        return took.value

    def _begin_inside(
        self, drone_id: str, session_id: bytes, attempt: bytes, packet: int, m1: bytes, now: float
    ) -> str:
        responder = self._responder((drone_id, session_id))
        reply = responder.feed(m1)
        if not reply:
            return "hs_malformed" if isinstance(responder.error, MalformedError) else "hs_gate"
        if reply[4] == MessageType.REJECT:
            self.refused.append(responder.error or WireError("refused"))
            self._refuse_inside(drone_id, attempt, reply)
            return "hs_taken"
        number = int.from_bytes(self._random(4), "big") >> 1
        transport = Transport(is_drone=False, attempt=attempt, keys=None, now=now, first_packet=number)
        transport.expect({MessageType.CLIENT_HELLO: msg.CLIENT_HELLO_LIMITS})
        self._begun += 1
        if drone_id in self._inside:
            self._ended[drone_id].append(self._inside[drone_id].attempt)
        record = _Record(drone_id, attempt, None, transport, responder, now, self._begun, proven=True)
        self._inside[drone_id] = record
        transport.on_datagram(packet, (single(m1),), 0, len(m1), now)
        transport.take_message()
        transport.start(reply, now)
        transport.expect(responder.allowed)
        return "hs_taken"

    def _refuse_inside(self, drone_id: str, attempt: bytes, reply: bytes) -> None:
        """A Reject has a packet number of its own, and nothing of it is kept."""
        number = int.from_bytes(self._random(4), "big") >> 1
        self._inside_out.append((drone_id, attempt + number.to_bytes(4, "big") + single(reply).pack()))

    def _begin_ratchet(
        self,
        drone_id: str,
        session_id: bytes,
        attempt: bytes,
        packet: int,
        parsed: tuple[Frame, ...],
        length: int,
        now: float,
    ) -> str:
        """Any part of R1 begins it."""
        running = self.running.get(drone_id)
        if running is None or running.session_id != session_id:
            return "hs_malformed"
        if attempt in self._ended[drone_id]:
            return "hs_replay"
        responder = RatchetResponder(
            running,
            self.policy.psks[drone_id],
            key_old=self.keys_old,
            avoid=self.policy.avoid,
            new_index=lambda: next(self.policy.indices),
            random_bytes=self._random,
        )
        number = int.from_bytes(self._random(4), "big") >> 1
        transport = Transport(is_drone=False, attempt=attempt, keys=None, now=now, first_packet=number)
        transport.expect(responder.allowed)
        if drone_id in self._inside:
            self._ended[drone_id].append(self._inside[drone_id].attempt)
        self._begun += 1
        record = _Record(drone_id, attempt, None, transport, responder, now, self._begun, proven=True)
        self._inside[drone_id] = record
        took = transport.on_datagram(packet, parsed, 0, length, now)
        self._on_message(record, 0, now)
        return took.value

    # --- output and time

    def poll(self, now: float) -> tuple[list[tuple[Address, bytes]], list[tuple[str, bytes]]]:
        """(datagrams with their addresses, values of TLV 32 with their drones) that are due."""
        for record in [*self._records.values(), *self._inside.values()]:
            if self._is_over(record, now):
                self._forget(record)
                continue
            for path, datagram in record.transport.poll(now):
                if record.keys is None:
                    self._inside_out.append((record.drone_id, datagram))
                else:
                    address = record.elsewhere if path == ELSEWHERE else record.addresses[path]
                    self._out.append((address, datagram))
        out, inside = self._out, self._inside_out
        self._out, self._inside_out = [], []
        return out, inside

    @staticmethod
    def _is_over(record: _Record, now: float) -> bool:
        if record.done_at is not None:
            return now - record.done_at > LINGER_S
        if now - record.transport.last_progress > NO_PROGRESS_S:
            return True
        return record.keys is not None and now - record.began > total_limit_s(len(record.responder.transcript.m2))

    def deadline(self) -> float:
        """When `poll` is due next."""
        records = [*self._records.values(), *self._inside.values()]
        return min((record.transport.deadline() for record in records), default=float("inf"))

    def makes(self, session_id: bytes) -> bool:
        """Whether an attempt is about to make this session (section 9)."""
        return any(
            record.done_at is None and record.responder.session_id == session_id
            for record in [*self._records.values(), *self._inside.values()]
        )

    def end_lingering(self, drone_id: str) -> None:
        """A packet under the new keys came: M4 need not be answered again."""
        for record in [*self._records.values(), *self._inside.values()]:
            if record.drone_id == drone_id and record.done_at is not None:
                self._forget(record)


def _parse_hello(m1: bytes) -> msg.ClientHello:
    check_frame(m1, {MessageType.CLIENT_HELLO: msg.CLIENT_HELLO_LIMITS})
    return msg.ClientHello.parse(m1)
