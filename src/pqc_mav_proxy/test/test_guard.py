# SPDX-License-Identifier: Apache-2.0
"""The guard alone, and in a proxy beside a mavros that is open to the network."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray

from pqc_mav_common import qos
from pqc_mav_common.diagnostics import Level
from pqc_mav_common.siblings import ALLOWED, MARK, MAVROS, Sibling, new_mark
from pqc_mav_common.socket_table import own_network
from pqc_mav_common.testing import Running, until
from pqc_mav_common.testing_network import fake_mavros, running_mavros
from pqc_mav_common.testing_onlooker import Onlooker, diagnosed
from pqc_mav_common.testing_proxies import gcs_parameters, ros_arguments
from pqc_mav_proxy.guard import AGAIN_S, ELSEWHERE, LOOK_S, NO_ENGINE, Guard, Listed, sockets_of

__all__ = ["fake_mavros"]

ANY = "0.0.0.0"
OWN = {os.getpid(): sockets_of([])}


class Machine:
    """What runs on it."""

    def __init__(self) -> None:
        self.running = [Sibling(os.getpid(), "python", True)]
        self.errors: list[str] = []
        self.looks = 0
        self.known: list[int] = []
        self.written: list[tuple[str, list[str]]] = []

    def guard(self, **environment: str) -> Guard:
        return Guard(environment, 0, self.errors.append, lambda: self.written, self._find)

    def _find(self, _mark: str, known: Collection[int]) -> Iterator[Sibling]:
        self.looks += 1
        self.known = list(known)
        yield from self.running


def own() -> Listed:
    return OWN


def test_it_looks_at_once_and_then_seldom() -> None:
    machine = Machine()
    guard = machine.guard()
    for now_s in (5.0, 6.0, 5.0 + LOOK_S - 0.1):
        assert guard.diagnostics(now_s, own)
    assert machine.looks == 1
    guard.diagnostics(5.0 + LOOK_S, own)
    assert machine.looks == 2


def test_an_error_is_logged_once_each_time_it_appears(fake_mavros: Path) -> None:
    machine = Machine()
    guard = machine.guard()
    alone = machine.running
    with running_mavros(fake_mavros, ANY) as mavros:
        both = [*alone, Sibling(mavros.pid, MAVROS, True)]
        for number, machine.running in enumerate((alone, both, both, alone, both)):
            said, _ = guard.diagnostics(number * LOOK_S, own)
            assert (said.level is Level.ERROR) is (machine.running is both), said.message
        assert len(machine.errors) == 2 and all(mavros.text in line for line in machine.errors)
        assert machine.guard(**{ALLOWED: f"127.0.0.1, {ANY}"}).diagnostics(0.0, own)[0].level is Level.WARN


def test_an_engine_says_what_its_sockets_are_for() -> None:
    machine = Machine()
    uses = ("tunnel", "plain", "other")
    listed = [
        {"protocol": "UDP", "host": ANY, "port": port, "inode": port, "use": use} for port, use in enumerate(uses, 1)
    ]
    me = str(machine.running[0])
    said, _ = machine.guard().diagnostics(0.0, lambda: {os.getpid(): sockets_of(listed)})
    assert said.level is Level.ERROR and machine.known == [os.getpid()]
    assert (said.values["open"], said.values["allowed"]) == (f"{me}: UDP {ANY}:3", f"{me}: UDP {ANY}:2")


def test_without_an_engine_it_says_so_and_looks_again_soon() -> None:
    machine = Machine()
    guard = machine.guard()
    said, _ = guard.diagnostics(0.0, dict)
    assert said.level is Level.WARN and NO_ENGINE in said.message
    assert guard.diagnostics(AGAIN_S, own)[0].level is Level.OK
    assert guard.diagnostics(AGAIN_S + LOOK_S - 0.1, dict)[0].level is Level.OK, "it looks seldom again"


def test_an_engine_in_another_network_namespace_is_said() -> None:
    machine = Machine()
    assert machine.guard().diagnostics(0.0, own, own_network())[0].level is Level.OK
    said = machine.guard().diagnostics(0.0, own, "net:[1]")[0]
    assert said.level is Level.WARN and f"{ELSEWHERE}: may not be looked at" in said.message


def test_a_proxy_that_lets_applications_in_says_so_and_raises_no_alarm(keys: Path) -> None:
    """`plain_endpoints` open to the network are what the configuration asks for, not a way around the tunnel."""
    places = [f"udp-listen:{ANY}:0", f"tcp-listen:{ANY}:0"]
    parameters = gcs_parameters(keys, drones=("d1",), plain_allow_remote=True)
    arguments = ros_arguments({**parameters, "drone.d1.plain_endpoints": places}, "letting")
    name = "letting/pqc_proxy: sockets"
    proxy = Running([sys.executable, "-m", "pqc_mav_proxy.main", *arguments], {MARK: new_mark()})
    try:
        with Onlooker() as onlooker:
            arrays = onlooker.collect(DiagnosticArray, "/diagnostics", qos.periodic(8))
            until(lambda: diagnosed(arrays, name)[0] >= Level.OK, "a report")
            level, message = diagnosed(arrays, name)
        assert level == Level.WARN and "as allowed" in message and "past the tunnel" not in message, message
        assert message.count(f"(process {proxy.process.pid})") == len(places), message
    finally:
        proxy.kill()


def test_a_machine_that_cannot_be_looked_at() -> None:
    def refuse(_mark: str, _known: Collection[int]) -> list[Sibling]:
        raise PermissionError

    (said,) = Guard({}, 0, print, tuple, refuse).diagnostics(0.0, own)
    assert said.subcomponent == "mavros"


def test_two_mavros_that_share_their_topics_are_logged_too() -> None:
    machine = Machine()
    machine.written = [("/uas1/mavlink_source", ["/a/mavros_router", "/b/mavros_router"])]
    _, said = machine.guard().diagnostics(0.0, own)
    assert said.level is Level.ERROR and machine.errors == [said.message]


def test_a_proxy_names_the_mavros_that_is_open_to_the_network(keys: Path, fake_mavros: Path) -> None:
    """From outside: the process as it is started, its `/diagnostics` and its log."""
    mark = new_mark()
    arguments = ros_arguments(gcs_parameters(keys, bind=""), "guarded")
    proxy = Running([sys.executable, "-m", "pqc_mav_proxy.main", *arguments], {MARK: mark})

    def sockets() -> tuple[int, str]:
        return diagnosed(arrays, "guarded/pqc_proxy: sockets")

    try:
        with Onlooker() as onlooker:
            arrays = onlooker.collect(DiagnosticArray, "/diagnostics", qos.periodic(8))
            until(lambda: sockets()[0] == Level.OK, "no hole yet, though the tunnel's port is open")
            with running_mavros(fake_mavros, ANY, mark=mark) as mavros:
                until(lambda: sockets()[0] == Level.ERROR, "the hole")
                hole = f"DEGRADED: {MAVROS} (process {mavros.pid}): {mavros.text}"
                assert sockets()[1].startswith(f"{hole} is open to the")
                proxy.wait_for(hole)
            until(lambda: sockets()[0] == Level.OK, "the hole closed")
    finally:
        proxy.kill()
