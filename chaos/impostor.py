# SPDX-License-Identifier: Apache-2.0
"""A thief of a drone's PSK at a gcs that requires the drone's signature: docs/protocol.md section 16, from outside.

He plays the drone as far as he can: the gate, the Retry, the announcement of a signature. What he lacks is the drone's
signing key. Every other handshake of his goes on to an M3 that he signed himself; the others hold a place of the drone
until the gcs gives them up, and then he takes that place again. Can he keep the drone out that has just restarted, or
end the session of one that has not, or its rekeys? If he also listens, he has ClientHellos of the drone with its return
proof: each of his attempts then begins with one of them.
"""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import contact
from background import Background
from children import ChildError
from ends import DEFAULT_SUITE, DRONE_ID, End
from overtaking import Relay
from pair import temporary_keys
from traffic import application_socket

from pqc_mav_common import two_ends
from pqc_mav_common.waiting import wait_until
from pqc_mav_wirespec import oqs_library
from pqc_mav_wirespec.attempt import NO_PROGRESS_S, Attempt
from pqc_mav_wirespec.handshake import Initiator
from pqc_mav_wirespec.hsframes import TYPE_GCS, TYPE_RETRY, Fragment, HandshakeDatagram
from pqc_mav_wirespec.keys import load_drone_keys
from pqc_mav_wirespec.messages import ClientHello, MessageType
from pqc_mav_wirespec.suites import find_suite

HANDS = 8  # at each address: more than there are places
MANY, OWN = [f"127.0.0.{60 + number}" for number in range(6)], [two_ends.HOST]
ONE, TWO = MANY[:1], MANY[:2]
_TURN_S, _AGAIN_S, _HELD_S = 0.005, 0.2, NO_PROGRESS_S - 0.2
COMMAND_S = 0.02
COPIED = 2
_GIVE_UP_S = 20.0


class Impostor(Background):
    """Plays the drone from several addresses, with its stolen PSK and without its signing key.

    `copied`: the drone's own M1s, to begin with. `held`: places taken, `signed`: M3s sent.
    """

    def __init__(self, stolen: Path, gcs_port: int, hosts: Sequence[str], copied: Sequence[ClientHello] = ()) -> None:
        keys = load_drone_keys(stolen)
        self._suite = find_suite(DEFAULT_SUITE)
        self._psk, self._gcs_public = keys.psk, keys.gcs_publics[self._suite.sig.token]
        self._own = oqs_library.sig_keypair(self._suite.sig)[1]
        self._gcs = (two_ends.HOST, gcs_port)
        self._copied = itertools.cycle(copied) if copied else None
        self.held = self.signed = 0
        self._hands = [_Hand(host, holds=hand % 2 == 0) for host in hosts for hand in range(HANDS)]
        self._begin()

    def close(self) -> None:
        """End it."""
        super().close()
        for hand in self._hands:
            hand.socket.close()

    def _run(self) -> None:
        while not self._over.wait(_TURN_S):
            for hand in self._hands:
                self._turn(hand, time.monotonic())

    def _turn(self, hand: _Hand, now: float) -> None:
        with suppress(BlockingIOError):
            while True:
                self._hear(hand, hand.socket.recv(65_536), now)
        if now < hand.rests_until:
            return
        hand.rests_until = now + _AGAIN_S
        initiator = Initiator(self._suite, DRONE_ID, self._psk, self._gcs_public, sign_secret=self._own)
        if self._copied is not None:
            initiator.hello = next(self._copied)
        hand.attempt = Attempt(initiator, self._psk, now)
        self._speak(hand, now)

    def _hear(self, hand: _Hand, datagram: bytes, now: float) -> None:
        if hand.attempt is None:
            return
        if datagram[0] == TYPE_RETRY:
            hand.attempt.on_retry(datagram, now)
            self._speak(hand, now)
        elif datagram[0] == TYPE_GCS and has_m2(datagram):
            if hand.holds:
                hand.attempt, hand.rests_until = None, now + _HELD_S
                self.held += 1
                return
            hand.rests_until = now + _AGAIN_S
            before = hand.attempt.initiator.allowed
            hand.attempt.on_datagram(datagram, now)
            self.signed += hand.attempt.initiator.allowed != before
            self._speak(hand, now)

    def _speak(self, hand: _Hand, now: float) -> None:
        assert hand.attempt is not None
        for datagram in hand.attempt.poll(now):
            hand.socket.sendto(datagram, self._gcs)


def has_m2(datagram: bytes) -> bool:
    """Whether a part of the gcs' ServerHello is in it."""
    frames = HandshakeDatagram.parse(datagram).frames
    return any(isinstance(each, Fragment) and each.message == MessageType.SERVER_HELLO for each in frames)


class _Hand:
    """One attempt after the other, from a port of its own."""

    def __init__(self, host: str, *, holds: bool) -> None:
        self.holds = holds
        self.socket = application_socket(host=host)
        self.socket.setblocking(False)
        self.attempt: Attempt | None = None
        self.rests_until = 0.0


class Scene:
    """A gcs, a drone that signs, what the thief stole of it, and the applications at both ends.

    `through` makes a relay of the gcs' port and the PSK; the thief may listen at it.
    """

    def __init__(self, stack: ExitStack, *, proof: bool, through: Callable[[int, bytes], Relay] | None = None) -> None:
        self._stack = stack
        folder = stack.enter_context(temporary_keys(drone_signatures=True))
        self._stolen = Path(folder) / "stolen"
        shutil.copytree(f"{folder}/drones/{DRONE_ID}", self._stolen, ignore=shutil.ignore_patterns("sig"))
        self.ground, self.autopilot = (stack.enter_context(application_socket()) for _ in range(2))
        self.gcs = End(two_ends.gcs_config(folder, {DRONE_ID: self.ground.getsockname()[1]}))
        stack.callback(self.gcs.close)
        self.ports = self.gcs.child.ask("ports")
        kept = {"state_dir": f"{folder}/state"} if proof else {}
        to = self.ports["data"]
        if through is not None:
            self.relay = through(to, load_drone_keys(self._stolen).psk)
            stack.callback(self.relay.close)
            to = self.relay.port
        self.drone = End(two_ends.drone_config(folder, DRONE_ID, to, **kept))
        stack.callback(self.drone.close)
        if not wait_until(lambda: self.is_up() and bool(self.gcs.status()["drone_signed"]), _GIVE_UP_S):
            raise ChildError("no session before the thief came")
        if proof and not wait_until(lambda: any(Path(f"{folder}/state").glob("*.key")), _GIVE_UP_S):
            raise ChildError("no return proof was stored")

    def is_up(self) -> bool:
        """Both ends have the same session."""
        ends = (self.drone.status(), self.gcs.status())
        return all(each["state"] == "UP" and each["session_id"] == ends[0]["session_id"] for each in ends)

    def starts(self) -> float:
        """How long the drone takes, which is down, to its session; _GIVE_UP_S and more: it got none."""
        begin = time.monotonic()
        self.drone.start()
        wait_until(self.is_up, _GIVE_UP_S)
        return time.monotonic() - begin

    def listen(self, starts: int) -> list[ClientHello]:
        """What the drone begins with, each time that it starts with its proof."""
        heard = []
        for _ in range(starts):
            self.drone.kill()
            self.relay.handshake.clear()
            self.starts()
            hello = HandshakeDatagram.parse(self.relay.handshake[0]).hello
            assert hello is not None
            heard.append(ClientHello.parse(hello.data))
        if not all(each.return_proof for each in heard):
            raise ChildError("the drone showed no return proof")
        return heard

    def admit_thief(self, hosts: Sequence[str], copied: Sequence[ClientHello] = ()) -> Impostor:
        """He has come when he has places, and was refused."""
        thief = Impostor(self._stolen, self.ports["data"], hosts, copied)
        self._stack.callback(thief.close)
        if not wait_until(lambda: thief.held >= 2 and thief.signed >= 1, _GIVE_UP_S):
            raise ChildError("the thief got no place")
        return thief


def competing(hosts: Sequence[str], *, proof: bool) -> contact.Contact:
    """The drone restarts, with its return proof or without, while the thief takes what places he can get."""
    attack = f"the PSK, from {_words(hosts)}, while the drone restarts with{'' if proof else 'out'} its return proof"
    with ExitStack() as stack:
        scene = Scene(stack, proof=proof)
        scene.drone.kill()
        scene.admit_thief(hosts)
        return _connects(attack, scene)


def copying() -> contact.Contact:
    """The same, where the drone has its proof, and the thief ClientHellos with it that he heard."""
    attack = f"the PSK and {COPIED} copied return proofs, from {_words(MANY)}, while the drone restarts with its own"
    with ExitStack() as stack:
        scene = Scene(stack, proof=True, through=lambda port, _: Relay(port))
        copied = scene.listen(COPIED)
        scene.drone.kill()
        scene.admit_thief(MANY, copied)
        return _connects(attack, scene)


def _connects(attack: str, scene: Scene) -> contact.Contact:
    seconds = scene.starts()
    return contact.Contact(attack, seconds if seconds < _GIVE_UP_S else None)


def beside(seconds: float) -> contact.Contact:
    """A session runs: its commands and its rekey. Up: when the rekey was done."""
    attack = f"the PSK, from {_words(MANY)}, while a session runs (up: its rekey)"
    with ExitStack() as stack:
        scene = Scene(stack, proof=False)
        ports = (each.child.ask("ports")["plain"][DRONE_ID] for each in (scene.gcs, scene.drone))
        gcs_plain, drone_plain = ((two_ends.HOST, port) for port in ports)
        scene.autopilot.sendto(b"here", drone_plain)
        scene.ground.settimeout(_GIVE_UP_S)
        if scene.ground.recv(64) != b"here":
            raise ChildError("no telemetry before the thief came")
        session = scene.drone.status()["session_id"]
        scene.admit_thief(MANY)
        begin = time.monotonic()
        outcome = scene.drone.begin_rekey("")
        sent = 0
        came: set[bytes] = set()
        scene.autopilot.settimeout(COMMAND_S)
        while time.monotonic() < begin + seconds:
            scene.ground.sendto(sent.to_bytes(4, "big"), gcs_plain)
            sent += 1
            time.sleep(COMMAND_S)
            with suppress(TimeoutError):  # a socket that nobody reads has room for 256
                came.add(scene.autopilot.recv(64))
        done = outcome(_GIVE_UP_S)
        scene.autopilot.settimeout(1.0)
        with suppress(TimeoutError):
            while len(came) < sent:
                came.add(scene.autopilot.recv(64))
        kept = done["ok"] and scene.drone.status()["epoch"] == 1 and scene.drone.status()["session_id"] != session
        return contact.Contact(attack, done["rekey_ms"] / 1000 if kept else None, sent, len(came))


def _words(hosts: Sequence[str]) -> str:
    return "the drone's own address" if hosts == OWN else f"{len(hosts)} address{'es' if len(hosts) > 1 else ''}"


def measure(runs: int) -> list[contact.Contact]:
    """All of them, `runs` times."""
    found = []
    for _ in range(runs):
        found += [competing(hosts, proof=False) for hosts in (ONE, TWO, MANY)]
        found += [competing(MANY, proof=True), competing(OWN, proof=True), copying()]
        found.append(beside(10.0))
    return found
