# SPDX-License-Identifier: Apache-2.0
"""Complete blocking peers for tests: a drone and a gcs, each on one UDP socket, each call bounded by a timeout."""

from __future__ import annotations

import secrets
import socket
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from . import control
from .attempt import Attempt
from .dataplane import DEFAULT_MAX_PAYLOAD_BYTES, OVERHEAD_BYTES, Header, Outcome
from .deadline import Deadline
from .errors import MalformedError, NoSessionError, WireError
from .handshake import GcsPolicy, Initiator, ReturnTicket
from .hsframes import TYPE_DRONE, TYPE_GCS, TYPE_RESTART, TYPE_RETRY, parse_restart, restart_datagram
from .keyschedule import SessionKeys
from .messages import LARGEST_DATAGRAM_BYTES
from .paths import Paths
from .primitives import same, sha256
from .proofs import Address, address_tag, restart_token, return_key, serial_of
from .replay import DEFAULT_BITS
from .session import Link
from .station import Completed, Station
from .suites import Suite

HANDSHAKE_S = 45.0
LARGEST_UDP_BYTES = 65535
KEEPALIVE_S = 0.5
POLL_S = 0.2
RESTARTS_PER_SOURCE_S, RESTARTS_PER_S = 10, 100


@dataclass(frozen=True)
class Received:
    """One datagram of the data plane after the receive order of docs/protocol.md section 10."""

    outcome: Outcome
    drone_id: str = ""
    payload: bytes = b""
    controls: tuple[control.Tlv, ...] = ()
    session_id: bytes = b""


@dataclass(frozen=True)
class ProbeResult:
    """Round-trip time and the other end's clock minus the own one, in ns."""

    rtt_ns: int
    offset_ns: float


def _ignore_path_mtu(udp: socket.socket) -> None:
    """DF off and no path MTU from ICMP (section 5); where the system has no such option nothing is lost but that."""
    mtu_discover, omit = getattr(socket, "IP_MTU_DISCOVER", 10), 5
    try:
        if udp.family == socket.AF_INET:
            udp.setsockopt(socket.IPPROTO_IP, mtu_discover, omit)
        else:
            udp.setsockopt(socket.IPPROTO_IPV6, 23, omit)
    except OSError:
        pass


class _UdpPeer:
    """One end's socket: counts every datagram in exactly one outcome, answers probes, keeps alive."""

    def __init__(self, bind: Address) -> None:
        family = socket.AF_INET6 if ":" in bind[0] else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        _ignore_path_mtu(self._socket)
        self._socket.bind(bind)
        self.links: dict[str, Link] = {}
        self.counters: Counter[str] = Counter()
        self.handshake_counters: Counter[str] = Counter()
        self.datagrams_received = 0
        self.datagrams_sent = 0
        self._last_sent: dict[str, float] = {}

    @property
    def address(self) -> Address:
        """Where its socket is bound."""
        name = self._socket.getsockname()
        return name[0], name[1]

    def send_raw(self, datagram: bytes, address: Address) -> None:
        """Sends bytes as they are (replays, forgeries)."""
        self._socket.sendto(datagram, address)
        self.datagrams_sent += 1

    def _targets(self, drone_id: str, length: int) -> list[Address]:
        """Where a datagram of this length goes."""
        raise NotImplementedError

    def _repeated(self, drone_id: str) -> tuple[control.Tlv, ...]:
        """What goes with each control frame."""
        return ()

    def _send_sealed(self, drone_id: str, content: bytes, is_control: bool) -> bytes:
        link = self.links.get(drone_id)
        if link is None:
            raise NoSessionError(f"{drone_id} has no session: complete a handshake first")
        link.expire(time.monotonic())
        datagram = link.seal(content, is_control=is_control)
        targets = self._targets(drone_id, len(datagram))
        for address in targets:
            self.send_raw(datagram, address)
        self._last_sent[drone_id] = time.monotonic()
        return datagram

    def _send_tlvs(self, drone_id: str, *tlvs: control.Tlv) -> bytes:
        more = () if any(isinstance(tlv, control.Handshake) for tlv in tlvs) else self._repeated(drone_id)
        return self._send_sealed(drone_id, control.encode(*tlvs, *more), is_control=True)

    def _on_other(self, datagram: bytes, source: Address, now: float) -> str | None:
        """Takes a datagram of section 5, 6 or 9 and returns its outcome; None for one of the data plane."""
        raise NotImplementedError

    def _on_control(self, received: Received, source: Address, now: float) -> None:
        """Acts on the TLVs of a control frame, beside PROBE."""

    def _pump(self, now: float) -> None:
        """Sends what is due."""

    def _deadline(self) -> float:
        """When `_pump` is due next (monotonic seconds)."""
        return float("inf")

    def _receive_one(self, timeout: float, over: Callable[[], bool] = lambda: False) -> Received | None:
        """The next datagram of the data plane; None when none came in time, or `over` came true.

        Handshake datagrams are served and what is due is sent meanwhile.
        """
        deadline = Deadline(timeout)
        while True:
            self._pump(time.monotonic())
            wait = min(deadline.left(), self._deadline() - time.monotonic(), POLL_S)
            self._socket.settimeout(max(wait, 0.0001))
            try:
                datagram, address = self._socket.recvfrom(LARGEST_UDP_BYTES)
            except TimeoutError:
                if deadline.over:
                    return None
                continue
            received = self._take(datagram, (address[0], address[1]))
            self._pump(time.monotonic())
            if received is not None:
                return received
            if deadline.over or over():
                return None

    def _take(self, datagram: bytes, source: Address) -> Received | None:
        arrived = time.monotonic_ns()
        now = arrived / 1e9
        other = self._on_other(datagram, source, now)
        if other is not None:
            self.handshake_counters[other] += 1
            return None
        self.datagrams_received += 1
        received = self.classify(datagram, source)
        self.counters[received.outcome.value] += 1
        if received.outcome is Outcome.UNKNOWN:
            self._on_unknown(datagram, source, now)
        for tlv in received.controls:
            if isinstance(tlv, control.Probe):
                self._send_tlvs(received.drone_id, control.ProbeReply(tlv.id, tlv.t1, arrived, time.monotonic_ns()))
        if received.controls:
            self._on_control(received, source, now)
        return received

    def _on_unknown(self, datagram: bytes, source: Address, now: float) -> None:
        """A datagram of a session that is not held."""

    def classify(self, datagram: bytes, source: Address) -> Received:
        """Opens one datagram from `source`, in the receive order of section 10; counts and answers nothing."""
        try:
            header = Header.parse(datagram, OVERHEAD_BYTES + DEFAULT_MAX_PAYLOAD_BYTES)
        except MalformedError:
            return Received(Outcome.MALFORMED)
        for drone_id, link in self.links.items():
            if link.holds(header.session_id, header.epoch) is None:
                continue
            outcome, plaintext = link.open(header, datagram, time.monotonic())
            if outcome in (Outcome.DELIVERED, Outcome.CONTROL, Outcome.DECRYPT_FAIL):
                self._on_authentic(drone_id, source, len(datagram), link.is_newest_from_peer(header))
            controls = tuple(control.decode(plaintext)) if outcome is Outcome.CONTROL else ()
            return Received(outcome, drone_id, plaintext, controls, header.session_id)
        return Received(Outcome.UNKNOWN)

    def _on_authentic(self, drone_id: str, source: Address, length: int, newest: bool) -> None:
        """Called with the source of each new authenticated packet."""

    def _keep_alive(self) -> None:
        now = time.monotonic()
        for drone_id, link in self.links.items():
            idle = now - self._last_sent.get(drone_id, 0.0) >= KEEPALIVE_S
            if idle and link.sending is not None and self._targets(drone_id, 0):
                self._send_tlvs(drone_id, control.Keepalive())

    def receive(self, wanted: Callable[[Received], bool], timeout: float = 10.0) -> Received:
        """Serves the link until a datagram is `wanted`, and returns it. Raises TimeoutError."""
        deadline = Deadline(timeout)
        while not deadline.over:
            self._keep_alive()
            received = self._receive_one(min(POLL_S, deadline.left()))
            if received is not None and wanted(received):
                return received
        raise TimeoutError(f"nothing of the wanted kind came in {timeout} s; counters {dict(self.counters)}")

    def receive_payload(self, timeout: float = 10.0) -> bytes:
        """The payload of the next delivered data frame. Raises TimeoutError."""
        return self.receive(lambda got: got.outcome is Outcome.DELIVERED, timeout).payload

    def receive_control(self, kind: type[control.Tlv], timeout: float = 10.0) -> control.Tlv:
        """The next control TLV of this kind. Raises TimeoutError."""
        got = self.receive(lambda r: any(isinstance(tlv, kind) for tlv in r.controls), timeout)
        return next(tlv for tlv in got.controls if isinstance(tlv, kind))

    def _probe(self, drone_id: str, timeout: float) -> ProbeResult:
        probe = control.Probe(secrets.randbits(32), time.monotonic_ns())
        self._send_tlvs(drone_id, probe)

        def answers(received: Received) -> bool:
            return any(isinstance(tlv, control.ProbeReply) and tlv.id == probe.id for tlv in received.controls)

        got = self.receive(answers, timeout)
        t4 = time.monotonic_ns()
        reply = next(t for t in got.controls if isinstance(t, control.ProbeReply) and t.id == probe.id)
        if reply.t1 != probe.t1:
            raise MalformedError(f"the reply to probe {probe.id} carries another t1")
        return ProbeResult(reply.rtt(t4), reply.offset(t4))

    def drain(self, quiet_s: float = 0.3, timeout: float = 10.0) -> None:
        """Takes in datagrams until none came for `quiet_s`. Raises TimeoutError when they never end."""
        deadline = Deadline(timeout)
        while self._receive_one(quiet_s) is not None:
            if deadline.over:
                raise TimeoutError(f"datagrams kept coming for {timeout} s")

    def accounted(self) -> bool:
        """Whether the outcomes add up to the datagrams received."""
        return self.datagrams_received == sum(self.counters[outcome.value] for outcome in Outcome)

    def close(self) -> None:
        """Wipes the keys and closes the data socket."""
        for link in self.links.values():
            link.wipe()
        self._socket.close()


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


class DronePeer(_UdpPeer):
    """A drone. `connect` makes a fresh session, `rekey` follows on it; both raise the WireError that ended them."""

    def __init__(self, gcs_address: Address, bind: Address = ("127.0.0.1", 0)) -> None:
        super().__init__(bind)
        self.gcs_address = gcs_address
        self.drone_id = ""
        self.max_datagram = LARGEST_DATAGRAM_BYTES
        self.return_ticket: ReturnTicket | None = None
        self.restart_seen = False
        self.answers_challenges = True
        self._token_hash = b""
        self._attempt: Attempt | None = None

    def connect(
        self, suite: Suite, identity: DroneIdentity, *, hybrid: bool = True, timeout: float = HANDSHAKE_S
    ) -> SessionKeys:
        """A first handshake (epoch 0); an earlier session is kept for the grace."""
        return self._handshake(suite, identity, hybrid, False, timeout)

    def rekey(
        self, suite: Suite, identity: DroneIdentity, *, hybrid: bool = True, timeout: float = HANDSHAKE_S
    ) -> SessionKeys:
        """A handshake inside the running session: epoch + 1, a new session id, any suite."""
        return self._handshake(suite, identity, hybrid, True, timeout)

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
        )
        limit = self.max_datagram if self.max_datagram < LARGEST_DATAGRAM_BYTES else LARGEST_DATAGRAM_BYTES
        self._attempt = Attempt(initiator, None if inside else who.psk, time.monotonic(), limit=limit)
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
        self.drone_id = attempt.initiator.hello.drone_id.decode("ascii")
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
            elif isinstance(tlv, control.PathChallenge) and self.answers_challenges:
                self.send_control(control.PathResponse(tlv.random))
            elif isinstance(tlv, control.Handshake):
                self._on_session_handshake(tlv, now)

    def _on_session_handshake(self, tlv: control.Handshake, now: float) -> None:
        attempt = self._attempt
        outcome = "hs_unknown"
        if attempt is not None and attempt.transport.in_session and tlv.attempt == attempt.id:
            outcome = attempt.on_session_value(tlv.packet, tlv.frames, now)
            self._finish_attempt()
        self.handshake_counters[outcome] += 1

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
        return self._send_sealed(self.drone_id, payload, is_control=False)

    def send_control(self, *tlvs: control.Tlv) -> bytes:
        """Sends one control frame; returns the datagram."""
        return self._send_tlvs(self.drone_id, *tlvs)

    def probe(self, timeout: float = 10.0) -> ProbeResult:
        """Asks the gcs for its clock."""
        return self._probe(self.drone_id, timeout)


@dataclass
class _Announced:
    """What the gcs repeats to a drone until GOT, and since when (serial, address) its RETURN holds."""

    pending: dict[int, control.Return | control.Restart] = field(default_factory=dict)
    restart_for: bytes = b""
    return_for: tuple[int, str] | None = None


class GcsPeer(_UdpPeer):
    """A gcs for any number of drones. Handshakes are served in every call that waits; `accept_handshake` awaits one."""

    def __init__(
        self,
        policy: GcsPolicy,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        restart_key: bytes | None = None,
        demand_cookie: bool = False,
    ) -> None:
        super().__init__((host, port))
        self.restart_key = restart_key or secrets.token_bytes(32)
        self.station = Station(
            policy, restart_key=self.restart_key, demand_cookie=demand_cookie, serial=serial_of(time.time())
        )
        self.paths: dict[str, Paths] = {}
        self.completed: deque[Completed] = deque()
        self._announced: dict[str, _Announced] = {}
        self._restarts: Counter[str] = Counter()
        self._restarts_since = 0.0

    def accept_handshake(self, timeout: float = 10.0) -> SessionKeys:
        """The keys of the next completed handshake, first or rekey.

        Raises TimeoutError when none completes, or the WireError of the next one that was refused behind the gate.
        """
        deadline = Deadline(timeout)
        while not self.completed:
            if self.station.refused:
                raise self.station.refused.popleft()
            if deadline.over:
                raise TimeoutError(f"no handshake in {timeout} s; counters {dict(self.handshake_counters)}")
            self._keep_alive()
            self._receive_one(min(POLL_S, deadline.left()), lambda: bool(self.completed or self.station.refused))
        return self.completed.popleft().keys

    def _on_other(self, datagram: bytes, source: Address, now: float) -> str | None:
        if not datagram or datagram[0] != TYPE_DRONE:
            return None
        self._tell_sessions()
        outcome = self.station.on_datagram(datagram, source, now)
        self._take_completed(now)
        return outcome

    def _tell_sessions(self) -> None:
        running = {drone_id: link.rekeyable for drone_id, link in self.links.items()}
        self.station.sessions = {drone_id: previous for drone_id, previous in running.items() if previous is not None}

    def _take_completed(self, now: float) -> None:
        while self.station.completed:
            done = self.station.completed.popleft()
            link = self.links.setdefault(done.drone_id, Link(is_drone=False, window_bits=DEFAULT_BITS))
            link.install(done.keys, now)
            if done.address is not None:
                self.paths[done.drone_id] = Paths(done.address, done.validated)
            self.completed.append(done)

    def _targets(self, drone_id: str, length: int) -> list[Address]:
        paths = self.paths.get(drone_id)
        if paths is None:
            return []
        if length == 0:
            return [paths.current] if paths.current is not None else []
        return paths.targets(length)

    def _on_authentic(self, drone_id: str, source: Address, length: int, newest: bool) -> None:
        self.paths[drone_id].on_packet(source, length, newest, time.monotonic())

    def _on_control(self, received: Received, source: Address, now: float) -> None:
        announced = self._announced.get(received.drone_id)
        for tlv in received.controls:
            if isinstance(tlv, control.PathResponse):
                self.paths[received.drone_id].on_response(tlv.random, now)
            elif isinstance(tlv, control.Got) and announced is not None:
                pending = announced.pending.get(tlv.type)
                if pending is not None and control.got(pending) == tlv:
                    announced.pending.pop(tlv.type)
            elif isinstance(tlv, control.Switched):
                self.station.end_lingering(received.drone_id)
            elif isinstance(tlv, control.Handshake):
                self._tell_sessions()
                value = (tlv.attempt, tlv.packet, tlv.frames)
                outcome = self.station.on_session_value(received.drone_id, received.session_id, *value, now)
                self.handshake_counters[outcome] += 1
                self._take_completed(now)

    def _on_unknown(self, datagram: bytes, source: Address, now: float) -> None:
        """Section 9: a session that this instance does not hold and is not about to make."""
        session_id = datagram[5:13]
        if any(link.knows(session_id) for link in self.links.values()) or self.station.makes(session_id):
            return
        if now - self._restarts_since >= 1.0:
            self._restarts.clear()
            self._restarts_since = now
        if self._restarts[source[0]] < RESTARTS_PER_SOURCE_S and self._restarts.total() < RESTARTS_PER_S:
            self._restarts[source[0]] += 1
            self._socket.sendto(restart_datagram(session_id, restart_token(self.restart_key, session_id)), source)

    def _announce(self, drone_id: str) -> bool:
        """Renews what is told until GOT; returns whether there is something new to tell."""
        link, paths = self.links[drone_id], self.paths.get(drone_id)
        running = link.sending
        if running is None or paths is None or paths.current is None:
            return False
        announced = self._announced.setdefault(drone_id, _Announced())
        session_id, is_new = running.keys.session_id, False
        if announced.restart_for != session_id and running.used:
            announced.restart_for, is_new = session_id, True
            announced.pending[control.Restart.TYPE] = control.Restart(restart_token(self.restart_key, session_id))
        serial, host = serial_of(time.time()), paths.current[0]
        if paths.validated and announced.return_for != (serial, host):
            announced.return_for, is_new = (serial, host), True
            who = drone_id.encode("ascii")
            tag, key = address_tag(self.restart_key, who, serial, host), return_key(self.restart_key, who, serial)
            announced.pending[control.Return.TYPE] = control.Return(serial, tag, key)
        return is_new

    def _repeated(self, drone_id: str) -> tuple[control.Tlv, ...]:
        announced = self._announced.get(drone_id)
        return tuple(announced.pending.values()) if announced is not None else ()

    def _pump(self, now: float) -> None:
        self.station.serial = serial_of(time.time())
        outside, inside = self.station.poll(now)
        for address, datagram in outside:
            self._socket.sendto(datagram, address)
        for drone_id, value in inside:
            if drone_id in self.links and self.links[drone_id].sending is not None:
                tlv = control.Handshake(value[:8], int.from_bytes(value[8:12], "big"), value[12:])
                self._send_tlvs(drone_id, tlv)
        for drone_id, link in self.links.items():
            if link.sending is None or drone_id not in self.paths:
                continue
            self._send_challenges(drone_id, now)
            if self._announce(drone_id):
                self._send_tlvs(drone_id, control.Keepalive())

    def _send_challenges(self, drone_id: str, now: float) -> None:
        paths = self.paths[drone_id]
        for address, value in paths.challenges(now):
            content = control.encode(control.PathChallenge(value))
            if (address == paths.current and paths.validated) or paths.spend(address, len(content) + OVERHEAD_BYTES):
                self.send_raw(self.links[drone_id].seal(content, is_control=True), address)

    def _deadline(self) -> float:
        return min([self.station.deadline(), *(paths.deadline() for paths in self.paths.values())])

    def send(self, drone_id: str, payload: bytes) -> bytes:
        """Sends one data frame to a drone whose address is known; returns the datagram."""
        return self._send_sealed(drone_id, payload, is_control=False)

    def send_control(self, drone_id: str, *tlvs: control.Tlv) -> bytes:
        """Sends one control frame; returns the datagram."""
        return self._send_tlvs(drone_id, *tlvs)

    def probe(self, drone_id: str, timeout: float = 10.0) -> ProbeResult:
        """Asks a drone for its clock."""
        return self._probe(drone_id, timeout)
