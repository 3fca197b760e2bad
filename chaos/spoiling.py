# SPDX-License-Identifier: Apache-2.0
"""A thief of a drone's PSK who listens on the path, drops nothing, and says something false in each attempt he hears.

The attempt bytes and the PSK give him the keys of the datagrams around an attempt (docs/protocol.md section 5), so what
he sends there is taken: fragments of a third message that does not verify, before the drone's own, or of a second one.
The attempt fails. The next one does as well, for as long as he is there. He must gain no more than that: the session
that runs and its rekey, whose attempts are inside of it, stay, and once he goes the drone comes back with its suite.
"""

import secrets
import socket
import time
from contextlib import ExitStack

import contact
from children import ChildError
from ends import DEFAULT_SUITE
from impostor import Scene, has_m2
from overtaking import Relay

from pqc_mav_common.waiting import wait_until
from pqc_mav_wirespec.encoding import frame
from pqc_mav_wirespec.fragments import fragment_size
from pqc_mav_wirespec.hsframes import (
    TYPE_DRONE,
    TYPE_GCS,
    Fragment,
    FragmentKeys,
    HandshakeDatagram,
    fragment_count,
    seal_datagram,
)
from pqc_mav_wirespec.messages import (
    LARGEST_DATAGRAM_BYTES,
    MessageType,
    client_finish_limits,
    server_hello_limits,
)
from pqc_mav_wirespec.suites import find_suite

BACK_LIMIT_S = 11.0  # after he went: the drone waits 10 s for an answer in the attempt that he spoilt last
_FIRST = 1_000_000  # of his packet numbers: none of the drone's or the gcs'
_GIVE_UP_S = 20.0


class Spoiler(Relay):
    """The network between drone and gcs, with him at it, who tells one of them (`lied_to`) something false.

    `spoilt`: the attempts in which he did.
    """

    def __init__(self, gcs_port: int, psk: bytes, lied_to: str) -> None:
        self._psk, self._lied_to = psk, lied_to
        self._suite = find_suite(DEFAULT_SUITE)
        self.spoils = False
        self.spoilt: set[bytes] = set()
        super().__init__(gcs_port)

    def _from_drone(self, data: bytes, sender: tuple[str, int]) -> None:
        super()._from_drone(data, sender)
        if self._lied_to == "drone" and data[0] == TYPE_DRONE:
            longest = server_hello_limits(self._suite, hybrid=True)[1]
            self._lie(data, MessageType.SERVER_HELLO, longest, self.drone_side, sender)

    def _from_gcs(self, data: bytes, sender: tuple[str, int]) -> None:
        if self._lied_to == "gcs" and data[0] == TYPE_GCS and has_m2(data):
            longest = client_finish_limits(self._suite, hybrid=True, drone_signs=True)[1]
            self._lie(data, MessageType.CLIENT_FINISH, longest, self._overtakers[0], self.gcs)
        super()._from_gcs(data, sender)

    def _lie(self, heard: bytes, kind: MessageType, size: int, by: socket.socket, to: tuple[str, int]) -> None:
        """A message of random bytes, whole, in an attempt that he heard of."""
        attempt = HandshakeDatagram.parse(heard).attempt
        if not self.spoils or attempt in self.spoilt:
            return
        self.spoilt.add(attempt)
        keys = FragmentKeys.derive(self._psk, attempt)
        message = frame(kind, secrets.token_bytes(size))
        cut = fragment_size(len(message), LARGEST_DATAGRAM_BYTES, in_session=False)
        for index in range(fragment_count(len(message), cut)):
            piece = message[index * cut : (index + 1) * cut]
            frames = Fragment(kind, len(message), cut, index, piece).pack()
            is_drone = kind == MessageType.CLIENT_FINISH
            by.sendto(seal_datagram(keys, is_drone=is_drone, attempt=attempt, packet=_FIRST + index, frames=frames), to)


def spoiling(lied_to: str, seconds: float) -> contact.Contact:
    """A session and its rekey beside him; then the drone restarts, and he goes after some time. Up: from then on."""
    attack = f"the PSK, says something false to the {lied_to} in each attempt for {seconds:g} s (up: after he went)"
    with ExitStack() as stack:
        scene = Scene(stack, proof=True, through=lambda port, psk: Spoiler(port, psk, lied_to))
        relay = scene.relay
        assert isinstance(relay, Spoiler)
        relay.spoils = True
        if not scene.drone.begin_rekey("")(_GIVE_UP_S)["ok"] or relay.spoilt:
            return contact.Contact(f"{attack}: the rekey", None)
        scene.drone.kill()
        scene.drone.start()
        time.sleep(seconds)
        if not relay.spoilt or scene.is_up():
            raise ChildError(f"he spoilt {len(relay.spoilt)} attempts, and the drone is up")
        relay.spoils = False
        left = time.monotonic()
        is_up = wait_until(scene.is_up, _GIVE_UP_S) and scene.drone.status()["suite"] == DEFAULT_SUITE
        return contact.Contact(attack, time.monotonic() - left if is_up else None, up_limit_s=BACK_LIMIT_S)


def measure(runs: int) -> list[contact.Contact]:
    """Both, `runs` times."""
    return [spoiling(lied_to, 3.0) for _ in range(runs) for lied_to in ("gcs", "drone")]
