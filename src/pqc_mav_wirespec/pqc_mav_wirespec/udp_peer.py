# SPDX-License-Identifier: Apache-2.0
"""What both blocking peers share: one UDP socket, data frames, outcomes, probes (docs/protocol.md sections 3, 10)."""

from __future__ import annotations

import secrets
import socket
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass

from . import bundle, control
from .dataplane import (
    DEFAULT_MAX_PAYLOAD_BYTES,
    HEADER,
    KIND_BUNDLE,
    KIND_CONTROL,
    KIND_DATA,
    OVERHEAD_BYTES,
    CompactHeader,
    Header,
    Outcome,
    is_compact,
)
from .deadline import Deadline
from .errors import MalformedError, NoSessionError
from .keyschedule import FEATURE_COMPACT
from .mavlink import goes_by_several
from .proofs import Address
from .session import Link

LARGEST_UDP_BYTES = 65535
KEEPALIVE_S = 0.5
POLL_S = 0.2
SEEN_WITH = (control.LinkReport, control.ProbeReply)
NAMES_SESSION = (control.LinkReport, control.Probe)


@dataclass(frozen=True)
class Received:
    """One datagram of the data plane after the receive order of docs/protocol.md section 10."""

    outcome: Outcome
    drone_id: str = ""
    payload: bytes = b""
    datagrams: tuple[bytes, ...] = ()  # what was delivered: one of a data frame, or all of a bundle
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


class UdpPeer:
    """One end's socket: counts every datagram in exactly one outcome, answers probes, keeps alive."""

    names_session = False  # whether LINK_REPORT and PROBE take the long header (section 9)

    def __init__(self, bind: Address, features: int = 0) -> None:
        self.features = features
        family = socket.AF_INET6 if ":" in bind[0] else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        _ignore_path_mtu(self._socket)
        self._socket.bind(bind)
        self.links: dict[str, Link] = {}
        self.counters: Counter[str] = Counter()
        self.handshake_counters: Counter[str] = Counter()
        self.datagrams_received = 0
        self.delivered_datagrams = 0
        self._payloads: deque[bytes] = deque()
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

    def _copies(self, drone_id: str) -> list[Address]:
        """Where goes besides what goes by several paths."""
        return []

    def _takes(self, drone_id: str, content: bytes) -> bool:
        """Whether the way to there is for such data."""
        return True

    def _repeated(self, drone_id: str) -> tuple[control.Tlv, ...]:
        """What goes with each control frame."""
        return ()

    def _send_sealed(self, drone_id: str, content: bytes, kind: int, *, long_form: bool = False) -> bytes:
        link = self.links.get(drone_id)
        if link is None:
            raise NoSessionError(f"{drone_id} has no session: complete a handshake first")
        link.expire(time.monotonic())
        if kind == KIND_DATA and not self._takes(drone_id, content):
            return b""
        datagram = link.seal(content, kind=kind, long_form=long_form)
        targets = self._targets(drone_id, len(datagram))
        copies = self._copies(drone_id) if kind == KIND_DATA and goes_by_several(content) else []
        for address in [*targets, *copies]:
            self.send_raw(datagram, address)
        self._last_sent[drone_id] = time.monotonic()
        return datagram

    def _send_tlvs(self, drone_id: str, *tlvs: control.Tlv) -> bytes:
        more: tuple[control.Tlv, ...] = ()
        if not any(isinstance(tlv, control.Handshake) for tlv in tlvs):
            more = self._repeated(drone_id)
        link = self.links.get(drone_id)
        if link is not None and link.seen is not None and any(isinstance(tlv, SEEN_WITH) for tlv in tlvs):
            more = (control.Seen(link.seen), *more)
        long_form = self.names_session and any(isinstance(tlv, NAMES_SESSION) for tlv in tlvs)
        return self._send_sealed(drone_id, control.encode(*tlvs, *more), KIND_CONTROL, long_form=long_form)

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
        self.delivered_datagrams += len(received.datagrams)
        if received.outcome is Outcome.UNKNOWN:
            self._on_unknown(datagram, source, now)
        for tlv in received.controls:
            if isinstance(tlv, control.Probe):
                self._send_tlvs(received.drone_id, control.ProbeReply(tlv.id, tlv.t1, arrived, time.monotonic_ns()))
            elif isinstance(tlv, control.Seen):
                self.links[received.drone_id].peer_has_seen(received.session_id, tlv.highest)
        if received.controls:
            self._on_control(received, source, now)
        return received

    def _on_unknown(self, datagram: bytes, source: Address, now: float) -> None:
        """A datagram of a session that is not held."""

    def classify(self, datagram: bytes, source: Address) -> Received:
        """Opens one datagram from `source`, in the receive order of section 10; counts and answers nothing."""
        try:
            if is_compact(datagram):
                header, head = self._expand(datagram)
            else:
                header, head = Header.parse(datagram, OVERHEAD_BYTES + DEFAULT_MAX_PAYLOAD_BYTES), HEADER.size
        except MalformedError:
            return Received(Outcome.MALFORMED)
        if header is None:
            return Received(Outcome.UNKNOWN)
        for drone_id, link in self.links.items():
            if link.holds(header.session_id, header.epoch) is None:
                continue
            outcome, plaintext = link.open(header, datagram[head:], time.monotonic())
            repeated = outcome is Outcome.REPLAY and self._wants_repeat(drone_id, source)
            fresh = outcome in (Outcome.DELIVERED, Outcome.CONTROL, Outcome.DECRYPT_FAIL)
            if link.is_current(header) and (fresh or (repeated and link.is_repeat(header, datagram[head:]))):
                self._on_authentic(drone_id, source, len(datagram))
            controls = tuple(control.decode(plaintext)) if outcome is Outcome.CONTROL else ()
            datagrams: tuple[bytes, ...] = ()
            if outcome is Outcome.DELIVERED:
                datagrams = bundle.decode(plaintext) if header.kind == KIND_BUNDLE else (plaintext,)
            return Received(outcome, drone_id, plaintext, datagrams, controls, header.session_id)
        return Received(Outcome.UNKNOWN)

    def _expand(self, datagram: bytes) -> tuple[Header | None, int]:
        """The long header that a compact one stands for, None for an index that is not held, and its own length.

        Raises MalformedError, also at an end that takes none.
        """
        if not self.features & FEATURE_COMPACT:
            raise MalformedError("a compact frame without the feature")
        short = CompactHeader.parse(datagram, DEFAULT_MAX_PAYLOAD_BYTES)
        held = (link.header_of(short) for link in self.links.values())
        return next((header for header in held if header is not None), None), short.size

    def _on_authentic(self, drone_id: str, source: Address, length: int) -> None:
        """Called with the source of each authenticated packet under the newest keys."""

    def _wants_repeat(self, drone_id: str, source: Address) -> bool:
        """Whether one that comes again from there counts, too."""
        return False

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
        """The next delivered datagram. Raises TimeoutError."""
        if not self._payloads:
            self._payloads.extend(self.receive(lambda got: got.outcome is Outcome.DELIVERED, timeout).datagrams)
        return self._payloads.popleft()

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
