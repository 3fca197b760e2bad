# SPDX-License-Identifier: Apache-2.0
"""Whose address counts: the rows on addresses of docs/protocol.md section 16, each as an attack without a key, from
outside, on real processes on loopback.

A race: an overtaker's copies come first from the first datagram on, and he passes on all but the commands, from one
address or from more than are served. Forged copies: each datagram of the handshake, or of a flight in which the drone
moves, comes first from sources of nobody. Recordings: old ClientHellos with good return proofs are played while a
restarted gcs waits for its drone, or one draws what it can to the drone's own IP. None of these drops anything on the
drone's own path; the last attacker does, for a time.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import overtaking
import tables
from background import Background
from children import ChildError
from ends import DRONE_ID, End
from pair import temporary_keys
from traffic import application_socket

from pqc_mav_common import two_ends
from pqc_mav_common.waiting import wait_until

UP_LIMIT_S = 2.0  # after the start of the drone's process, or after the restart of the gcs; without an attack about 1
LEAST_DELIVERED = 0.99
FORGED, RECORDINGS, MANY = 3, 12, 6
MOVE_S = 0.5  # after a move: what is in flight, and until the gcs has heard of the new address
BLOCKED_S, AFTER_S = 3.0, 1.0  # he drops commands; then the drone's own address answers a challenge
MOST_DRAWN = 10  # by a copied return proof, once
_VOLLEY_S = 0.05
_GIVE_UP_S = 40.0
_SETTLED_S = 1.0


@dataclass(frozen=True)
class Contact:
    """One run: seconds until the drone was up (None: not at all), and the commands after that.

    `most_lost`: of the commands, besides one in a hundred. `drawn`: datagrams to an address that asked for none, at
    most `most_drawn`; a run that counts these has no drone.
    """

    attack: str
    up_s: float | None
    sent: int = 0
    delivered: int = 0
    most_lost: int = 0
    drawn: int = 0
    most_drawn: int = 0
    up_limit_s: float = UP_LIMIT_S


def race(seconds: float, seed: int = 1, addresses: int = 1) -> Contact:
    """The overtaker wins everything from the first ClientHello on."""
    where = "" if addresses == 1 else f" from {addresses} addresses"
    attack = f"wins the first race{where}, passes on all but commands"
    return _connect(attack, seconds, seed, win=1.0, answers=True, addresses=addresses)


def forged(seconds: float, seed: int = 1) -> Contact:
    """Three copies of each datagram of the handshake, from nobody, before the drone's own."""
    return _connect(f"{FORGED} forged copies of each handshake datagram", seconds, seed, forged=FORGED)


def _connect(
    attack: str,
    seconds: float,
    seed: int,
    *,
    during: Callable[[overtaking.Relay], None] = lambda _: None,
    most_lost_s: float = 0.0,
    **relay: Any,
) -> Contact:
    with ExitStack() as stack:
        try:
            session = overtaking.Session(stack, seed, **relay)
        except ChildError:
            return Contact(attack, None)
        time.sleep(seconds / 2)
        during(session.relay)
        time.sleep(seconds / 2)
        session.relay.win, session.relay.forged = 0.0, 0
        counts = session.traffic.stop()
        up = next(each for each in counts["streams"] if each["way"] == overtaking.messages.UP)
        most_lost = math.ceil(most_lost_s * overtaking.DOWN_RATE)
        return Contact(attack, session.up_s, up["sent"], up["received"], most_lost)


def moved(seconds: float, seed: int = 1) -> Contact:
    """The drone moves while every datagram is raced, and comes first from nobody, too."""

    def attack(relay: overtaking.Relay) -> None:
        relay.win, relay.forges_all = 1.0, True
        time.sleep(_SETTLED_S)
        relay.move()

    return _connect(
        f"{FORGED} forged copies of everything, and a race, while the drone moves", seconds, seed,
        during=attack, most_lost_s=MOVE_S, answers=True, forged=FORGED,
    )  # fmt: skip


def blocked(seconds: float, seed: int = 1) -> Contact:
    """Nothing arrives but what he passes on, which is all but the commands; then he leaves."""

    def attack(relay: overtaking.Relay) -> None:
        relay.win = 1.0
        time.sleep(_SETTLED_S)
        relay.blocks = True
        time.sleep(BLOCKED_S)
        relay.blocks, relay.win, relay.answers = False, 0.0, False

    return _connect(
        f"blocks the drone's own path for {BLOCKED_S:g} s, passes on all but commands, leaves", seconds, seed,
        during=attack, most_lost_s=BLOCKED_S + AFTER_S, answers=True,
    )  # fmt: skip


def recordings(count: int = RECORDINGS, seed: int = 1) -> Contact:
    """Restart the gcs while a listener plays what the drone said at its earlier starts."""
    return _recorded(count, seed)


def mirrored(watch_s: float = overtaking.WATCH_S, seed: int = 1) -> Contact:
    """One of those while there is no drone, with its source forged to the drone's own IP: how much that draws there."""
    return _recorded(1, seed, alone_s=watch_s)


def _recorded(count: int, seed: int, alone_s: float = 0.0) -> Contact:
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_keys())
        grounds = {DRONE_ID: stack.enter_context(application_socket()).getsockname()[1]}
        gcs = End(two_ends.gcs_config(folder, grounds))
        stack.callback(lambda: gcs.close())
        port = gcs.child.ask("ports")["data"]
        relay = overtaking.Relay(port, seed)
        stack.callback(relay.close)
        config = two_ends.drone_config(folder, DRONE_ID, relay.port, state_dir=f"{folder}/state")
        played: list[bytes] = []
        for number in range(count + 1):
            relay.handshake.clear()
            drone = End(config)
            stack.callback(drone.close)
            if not wait_until(partial(_is_new, drone, None), _GIVE_UP_S):
                raise ChildError(f"no session at start {number}")
            played.append(relay.handshake[0])
            time.sleep(_SETTLED_S if number == count else 0.3)
            if number < count:
                drone.kill()
        before = drone.status()["session_id"]
        if alone_s:
            drone.kill()
        gcs.kill()
        gcs = End(two_ends.gcs_config(folder, grounds, data_port=port))
        back = time.monotonic()
        if alone_s:
            return Contact(
                "a recorded ClientHello with its proof, from the drone's own IP", None,
                drawn=len(overtaking.drawn(played[-1], relay.gcs, two_ends.HOST, alone_s)), most_drawn=MOST_DRAWN,
            )  # fmt: skip
        with _Player(played[1:-1], relay.gcs):
            is_up = wait_until(lambda: _is_new(drone, before), _GIVE_UP_S)
        up_s = time.monotonic() - back if is_up else None
        return Contact(f"{len(played) - 2} recorded ClientHellos at a restart of the gcs", up_s)


def _is_new(drone: End, before: object) -> bool:
    status = drone.status()
    return status["state"] == "UP" and status["session_id"] != before


class _Player(Background):
    """Plays recordings, each from an address of its own, again and again."""

    def __init__(self, recorded: Sequence[bytes], gcs: tuple[str, int]) -> None:
        self._recorded, self._gcs = recorded, gcs
        self._begin()

    def _run(self) -> None:
        with ExitStack() as stack:
            hosts = [f"127.0.0.{40 + number}" for number in range(len(self._recorded))]
            places = [stack.enter_context(application_socket(host=host)) for host in hosts]
            for datagram, place in itertools.cycle(zip(self._recorded, places, strict=True)):
                place.sendto(datagram, self._gcs)
                if self._over.wait(_VOLLEY_S / len(self._recorded)):
                    return


def measure(runs: int, seed: int = 1) -> list[Contact]:
    """All of them, `runs` times."""
    found = []
    for each in range(seed, seed + runs):
        found += [race(10.0, each), race(10.0, each, MANY), forged(3.0, each), moved(20.0, each)]
        found += [blocked(10.0, each), recordings(seed=each), mirrored(seed=each)]
    return found


def problems(contacts: Sequence[Contact]) -> list[str]:
    """Return what is not as it must be, in words."""
    found = []
    for each in contacts:
        if each.most_drawn and not 0 < each.drawn <= each.most_drawn:
            found.append(f"{each.attack}: {each.drawn} datagrams drawn")
        if not each.most_drawn and (each.up_s is None or each.up_s > each.up_limit_s):
            took = "never" if each.up_s is None else f"after {each.up_s:.1f} s"
            found.append(f"{each.attack}: up {took}")
        if each.delivered < LEAST_DELIVERED * each.sent - each.most_lost:
            found.append(f"{each.attack}: {each.delivered} of {each.sent} commands delivered")
    return found


def section(contacts: Sequence[Contact]) -> str:
    """The page's part."""
    text = "\n## First contact\n\nOn loopback, with nothing dropped on the drone's own way of "
    text += f"{1000 * overtaking.DELAY_S:g} ms. Up: from the start of the drone's process, or the restart of the gcs. "
    text += "A thief of the PSK lacks the drone's signing key, which the gcs requires; no relay is in his way.\n\n"
    rows = []
    for attack in dict.fromkeys(each.attack for each in contacts):
        those = [each for each in contacts if each.attack == attack]
        times = [each.up_s for each in those if each.up_s is not None]
        sent, delivered = (sum(getattr(each, name) for each in those) for name in ("sent", "delivered"))
        share = f"{delivered} of {sent}" if sent else "-"
        if those[0].most_drawn:
            rows.append((attack, "-", "-", share, max(each.drawn for each in those)))
            continue
        rows.append((attack, f"{len(times)}/{len(those)}", f"{max(times, default=math.nan):.2f} s", share, "-"))
    head = ("the attacker", "up", "worst", "commands delivered", "datagrams drawn")
    return text + tables.markdown(head, rows)
