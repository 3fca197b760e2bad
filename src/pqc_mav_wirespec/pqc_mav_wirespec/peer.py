# SPDX-License-Identifier: Apache-2.0
"""Complete blocking peers for tests: a drone and a gcs over real TCP and UDP, each call bounded by a timeout."""

from __future__ import annotations

import secrets
import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from . import control
from .dataplane import DEFAULT_MAX_PAYLOAD_BYTES, OVERHEAD_BYTES, Header, Outcome
from .errors import MalformedError, NoSessionError, RateLimitedError, WireError
from .handshake import GcsPolicy, Initiator, Responder
from .keyschedule import SessionKeys
from .ratelimit import TokenBuckets
from .replay import DEFAULT_BITS
from .session import Link
from .suites import Suite
from .transport import HANDSHAKE_S, Deadline, run_initiator, run_responder

Address = tuple[str, int]
LARGEST_UDP_BYTES = 65535
KEEPALIVE_S = 1.0
POLL_S = 0.2


@dataclass(frozen=True)
class Received:
    """One datagram after the receive order of docs/protocol.md section 5."""

    outcome: Outcome
    drone_id: str = ""
    payload: bytes = b""
    controls: tuple[control.Tlv, ...] = ()


@dataclass(frozen=True)
class ProbeResult:
    """Round-trip time and the other end's clock minus the own one, in ns."""

    rtt_ns: int
    offset_ns: float


class _UdpPeer:
    """The data plane of one end: counts every datagram in exactly one outcome, answers probes, keeps alive."""

    def __init__(self, bind: Address) -> None:
        family = socket.AF_INET6 if ":" in bind[0] else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.bind(bind)
        self.links: dict[str, Link] = {}
        self.addresses: dict[str, Address] = {}
        self.counters: Counter[str] = Counter()
        self.datagrams_received = 0
        self.datagrams_sent = 0
        self._last_sent: dict[str, float] = {}

    @property
    def data_address(self) -> Address:
        """Where the encrypted socket is bound."""
        name = self._socket.getsockname()
        return name[0], name[1]

    def send_raw(self, datagram: bytes, address: Address) -> None:
        """Sends bytes as they are (replays, forgeries)."""
        self._socket.sendto(datagram, address)
        self.datagrams_sent += 1

    def _send_sealed(self, drone_id: str, content: bytes, is_control: bool) -> bytes:
        link, address = self.links.get(drone_id), self.addresses.get(drone_id)
        if link is None or address is None:
            raise NoSessionError(f"{drone_id} has no session or no known address: complete a handshake first")
        link.expire(time.monotonic())
        datagram = link.seal(content, is_control=is_control)
        self.send_raw(datagram, address)
        self._last_sent[drone_id] = time.monotonic()
        return datagram

    def _receive_one(self, timeout: float) -> Received | None:
        """The next datagram, or None when none came in time. Probes in it are answered before it returns."""
        self._socket.settimeout(max(timeout, 0.0001))
        try:
            datagram, source = self._socket.recvfrom(LARGEST_UDP_BYTES)
        except TimeoutError:
            return None
        arrived = time.monotonic_ns()
        self.datagrams_received += 1
        received = self.classify(datagram, (source[0], source[1]))
        self.counters[received.outcome.value] += 1
        for tlv in received.controls:
            if isinstance(tlv, control.Probe):
                reply = control.ProbeReply(tlv.id, tlv.t1, arrived, time.monotonic_ns())
                self._send_sealed(received.drone_id, control.encode(reply), is_control=True)
        return received

    def classify(self, datagram: bytes, source: Address) -> Received:
        """Opens one datagram that came from `source`, in the receive order of section 5; counts and answers nothing."""
        try:
            header = Header.parse(datagram, OVERHEAD_BYTES + DEFAULT_MAX_PAYLOAD_BYTES)
        except MalformedError:
            return Received(Outcome.MALFORMED)
        for drone_id, link in self.links.items():
            if link.holds(header.session_id, header.epoch) is None:
                continue
            outcome, plaintext = link.open(header, datagram, time.monotonic())
            opened = outcome in (Outcome.DELIVERED, Outcome.CONTROL, Outcome.DECRYPT_FAIL)
            if opened and link.is_newest_from_peer(header):
                self._on_newest(drone_id, source)
            controls = tuple(control.decode(plaintext)) if outcome is Outcome.CONTROL else ()
            return Received(outcome, drone_id, plaintext, controls)
        return Received(Outcome.UNKNOWN)

    def _on_newest(self, drone_id: str, source: Address) -> None:
        """Called with the source of the newest authenticated packet."""

    def _keep_alive(self) -> None:
        now = time.monotonic()
        for drone_id, link in self.links.items():
            idle = now - self._last_sent.get(drone_id, 0.0) >= KEEPALIVE_S
            if idle and link.sending is not None and drone_id in self.addresses:
                self._send_sealed(drone_id, control.encode(control.Keepalive()), is_control=True)

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
        self._send_sealed(drone_id, control.encode(probe), is_control=True)

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
    """Who a drone is: its id, its secrets and how it knows the gcs for one signature algorithm."""

    drone_id: str
    psk: bytes
    gcs_public: bytes
    sign_secret: bytes | None = None


class DronePeer(_UdpPeer):
    """A drone. `connect` makes a fresh session, `rekey` follows on it; both raise the WireError that ended them."""

    def __init__(self, handshake_address: Address, data_address: Address, bind: Address = ("127.0.0.1", 0)) -> None:
        super().__init__(bind)
        self._handshake_address = handshake_address
        self._gcs_data_address = data_address
        self.drone_id = ""

    def connect(
        self, suite: Suite, identity: DroneIdentity, *, hybrid: bool = True, timeout: float = HANDSHAKE_S
    ) -> SessionKeys:
        """A first handshake (epoch 0); an earlier session is kept for the grace."""
        return self._handshake(suite, identity, hybrid, None, timeout)

    def rekey(
        self, suite: Suite, identity: DroneIdentity, *, hybrid: bool = True, timeout: float = HANDSHAKE_S
    ) -> SessionKeys:
        """A handshake on top of the running session: epoch + 1, a new session id, any suite."""
        running = self.links[self.drone_id].sending if self.drone_id in self.links else None
        if running is None:
            raise NoSessionError("there is no session to rekey: connect first")
        return self._handshake(suite, identity, hybrid, (running.keys.session_id, running.keys.epoch), timeout)

    def _handshake(
        self, suite: Suite, who: DroneIdentity, hybrid: bool, previous: tuple[bytes, int] | None, timeout: float
    ) -> SessionKeys:
        initiator = Initiator(
            suite, who.drone_id, who.psk, who.gcs_public, hybrid=hybrid, sign_secret=who.sign_secret, previous=previous
        )
        run_initiator(self._handshake_address, initiator, timeout)
        if initiator.keys is None:
            raise initiator.error or WireError("the handshake did not finish")
        self.drone_id = who.drone_id
        link = self.links.setdefault(who.drone_id, Link(is_drone=True, window_bits=DEFAULT_BITS))
        link.install(initiator.keys, time.monotonic())
        self.addresses[who.drone_id] = self._gcs_data_address
        # the first packet shows the gcs the drone's address and lets it switch to these keys
        self.send_control(control.Switched(initiator.keys.epoch))
        return initiator.keys

    def send(self, payload: bytes) -> bytes:
        """Sends one data frame; returns the datagram."""
        return self._send_sealed(self.drone_id, payload, is_control=False)

    def send_control(self, *tlvs: control.Tlv) -> bytes:
        """Sends one control frame; returns the datagram."""
        return self._send_sealed(self.drone_id, control.encode(*tlvs), is_control=True)

    def probe(self, timeout: float = 10.0) -> ProbeResult:
        """Asks the gcs for its clock."""
        return self._probe(self.drone_id, timeout)


class GcsPeer(_UdpPeer):
    """A gcs for any number of drones; handshakes are served one at a time by `accept_handshake`."""

    def __init__(self, policy: GcsPolicy, host: str = "127.0.0.1", handshake_port: int = 0, data_port: int = 0) -> None:
        super().__init__((host, data_port))
        self._policy = policy
        self._listener = socket.create_server((host, handshake_port), family=self._socket.family)
        self._buckets = TokenBuckets()

    @property
    def handshake_address(self) -> Address:
        """Where handshakes are accepted."""
        name = self._listener.getsockname()
        return name[0], name[1]

    def accept_handshake(self, timeout: float = 10.0) -> SessionKeys:
        """Serves the next connection and returns its keys.

        Raises TimeoutError when nobody connects, RateLimitedError at once for a source without tokens, and otherwise
        the WireError that ended the handshake.
        """
        self._listener.settimeout(timeout)
        connection, source = self._listener.accept()
        if not self._buckets.admits(source[0], time.monotonic()):
            connection.close()
            raise RateLimitedError(f"{source[0]} has no tokens left")
        sessions = {drone_id: link.rekeyable for drone_id, link in self.links.items()}
        responder = Responder(replace(self._policy, sessions=sessions))
        run_responder(connection, responder)
        if not responder.gated:
            self._buckets.charge(source[0], time.monotonic())
        if responder.keys is None:
            raise responder.error or WireError("the handshake did not finish")
        link = self.links.setdefault(responder.drone_id, Link(is_drone=False, window_bits=DEFAULT_BITS))
        link.install(responder.keys, time.monotonic())
        return responder.keys

    def _on_newest(self, drone_id: str, source: Address) -> None:
        self.addresses[drone_id] = source

    def send(self, drone_id: str, payload: bytes) -> bytes:
        """Sends one data frame to a drone whose address is known; returns the datagram."""
        return self._send_sealed(drone_id, payload, is_control=False)

    def send_control(self, drone_id: str, *tlvs: control.Tlv) -> bytes:
        """Sends one control frame; returns the datagram."""
        return self._send_sealed(drone_id, control.encode(*tlvs), is_control=True)

    def probe(self, drone_id: str, timeout: float = 10.0) -> ProbeResult:
        """Asks a drone for its clock."""
        return self._probe(drone_id, timeout)

    def close(self) -> None:
        """Closes both sockets and wipes the keys."""
        super().close()
        self._listener.close()
