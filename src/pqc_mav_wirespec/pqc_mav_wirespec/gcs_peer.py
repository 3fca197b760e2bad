# SPDX-License-Identifier: Apache-2.0
"""A gcs for tests, on one UDP socket; every call is bounded by a timeout."""

from __future__ import annotations

import secrets
import time
from collections import Counter, deque
from dataclasses import dataclass, field

from . import bundle, control
from .dataplane import KIND_BUNDLE, KIND_CONTROL, KIND_DATA, is_compact
from .deadline import Deadline
from .handshake import GcsPolicy
from .hsframes import TYPE_DRONE, restart_datagram
from .keyschedule import SessionKeys
from .messages import FEATURE_PATHS, FEATURE_STATIONS
from .paths import Paths
from .proofs import Address, address_tag, restart_token, return_key, serial_of
from .replay import DEFAULT_BITS
from .session import Link
from .station import Completed, Station
from .udp_peer import POLL_S, ProbeResult, Received, UdpPeer

RESTARTS_PER_SOURCE_S, RESTARTS_PER_S = 10, 100


@dataclass
class _Announced:
    """What the gcs repeats to a drone until GOT, and since when (serial, address) its RETURN holds."""

    pending: dict[int, control.Return | control.Restart | control.Term] = field(default_factory=dict)
    restart_for: bytes = b""
    return_for: tuple[int, str] | None = None


class GcsPeer(UdpPeer):
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
        super().__init__((host, port), policy.features)
        self.restart_key = restart_key or secrets.token_bytes(32)
        self.station = Station(
            policy, restart_key=self.restart_key, demand_cookie=demand_cookie, serial=serial_of(time.time())
        )
        self.paths: dict[str, Paths] = {}
        self.completed: deque[Completed] = deque()
        self._announced: dict[str, _Announced] = {}
        self.roles: dict[str, control.Role] = {}
        self.highest_term: Counter[str] = Counter()
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
        keys = {drone_id: link.running for drone_id, link in self.links.items()}
        self.station.running = {drone_id: held for drone_id, held in keys.items() if held is not None}

    def _take_completed(self, now: float) -> None:
        while self.station.completed:
            done = self.station.completed.popleft()
            link = self.links.setdefault(done.drone_id, Link(is_drone=False, window_bits=DEFAULT_BITS))
            link.install(done.keys, now)
            if done.addresses:
                several = bool(done.keys.features & FEATURE_PATHS)
                self.paths[done.drone_id] = Paths(done.addresses, several=several, began=now)
            self.completed.append(done)

    def _targets(self, drone_id: str, length: int) -> list[Address]:
        paths = self.paths.get(drone_id)
        if paths is None:
            return []
        if length == 0:
            return [paths.current]
        return paths.targets(length)

    def _copies(self, drone_id: str) -> list[Address]:
        return self.paths[drone_id].copies() if drone_id in self.paths else []

    def _takes(self, drone_id: str, content: bytes) -> bool:
        return drone_id not in self.paths or self.paths[drone_id].takes(content)

    def _on_authentic(self, drone_id: str, source: Address, length: int) -> None:
        self.paths[drone_id].on_packet(source, length, time.monotonic())

    def _wants_repeat(self, drone_id: str, source: Address) -> bool:
        return drone_id in self.paths and self.paths[drone_id].wants_repeat(source)

    def _on_control(self, received: Received, source: Address, now: float) -> None:
        announced = self._announced.get(received.drone_id)
        for tlv in received.controls:
            if isinstance(tlv, control.PathResponse):
                self.paths[received.drone_id].on_response(tlv.random, now, tlv.path)
            elif isinstance(tlv, control.Paths):
                self.paths[received.drone_id].on_told(tlv)
                self._send_tlvs(received.drone_id, control.got(tlv))
            elif isinstance(tlv, control.Got) and announced is not None:
                pending = announced.pending.get(tlv.type)
                if pending is not None and control.got(pending) == tlv:
                    announced.pending.pop(tlv.type)
            elif isinstance(tlv, control.Role):
                self._on_role(received.drone_id, tlv)
                self._send_tlvs(received.drone_id, control.got(tlv))
            elif isinstance(tlv, control.Switched):
                self.station.end_lingering(received.drone_id)
            elif isinstance(tlv, control.Handshake):
                self._tell_sessions()
                value = (tlv.attempt, tlv.packet, tlv.frames)
                self.station.on_session_value(received.drone_id, received.session_id, *value, now)
                self._take_completed(now)

    def _on_role(self, drone_id: str, role: control.Role) -> None:
        """An older word than the last one changes nothing."""
        if drone_id in self.roles and role.term < self.roles[drone_id].term:
            return
        self.roles[drone_id] = role
        self.highest_term[drone_id] = max(self.highest_term[drone_id], role.term)

    def _begin_role(self, drone_id: str, keys: SessionKeys) -> None:
        """The first packet of a session that a first handshake made."""
        if keys.epoch != 0:
            return
        self.roles.pop(drone_id, None)
        if keys.features & FEATURE_STATIONS:
            self._on_role(
                drone_id, control.Role(control.Role.STANDBY if keys.standby else control.Role.ACTIVE, keys.term)
            )

    def _on_unknown(self, datagram: bytes, source: Address, now: float) -> None:
        """Section 9: a session that this instance does not hold and is not about to make."""
        if is_compact(datagram):
            return
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
        if running is None or not running.used or paths is None:
            return False
        announced = self._announced.setdefault(drone_id, _Announced())
        session_id, is_new = running.keys.session_id, False
        if announced.restart_for != session_id:
            announced.restart_for, is_new = session_id, True
            announced.pending[control.Restart.TYPE] = control.Restart(restart_token(self.restart_key, session_id))
            self._begin_role(drone_id, running.keys)
            if running.keys.features & FEATURE_STATIONS:
                announced.pending[control.Term.TYPE] = control.Term(self.highest_term[drone_id])
        serial, host = serial_of(time.time()), paths.current[0]
        if announced.return_for != (serial, host):
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
            self.send_raw(self.links[drone_id].seal(content, kind=KIND_CONTROL), address)

    def _deadline(self) -> float:
        return min([self.station.deadline(), *(paths.deadline() for paths in self.paths.values())])

    def send(self, drone_id: str, payload: bytes) -> bytes:
        """Sends one data frame to a drone whose address is known. Returns the datagram, if its path takes one."""
        return self._send_sealed(drone_id, payload, KIND_DATA)

    def send_bundle(self, drone_id: str, *datagrams: bytes) -> bytes:
        """Sends several as one frame; returns the datagram."""
        return self._send_sealed(drone_id, bundle.encode(datagrams), KIND_BUNDLE)

    def send_control(self, drone_id: str, *tlvs: control.Tlv) -> bytes:
        """Sends one control frame; returns the datagram."""
        return self._send_tlvs(drone_id, *tlvs)

    def probe(self, drone_id: str, timeout: float = 10.0) -> ProbeResult:
        """Asks a drone for its clock."""
        return self._probe(drone_id, timeout)
