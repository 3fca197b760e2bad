# SPDX-License-Identifier: Apache-2.0
"""A drone with two cables to its gcs. The routes say which of them is the path, and a change of them loses nothing; or
each is a path of its own: one loses everything, one comes late, one goes and comes back."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pqc_mav_tunnel as tunnel
import pytest
from tunnel_support import drone_config, eventually, gcs_config, udp

CLONE_NEWNET = 0x40000000
GCS = "10.214.9.9"  # on no cable: both lead to it
PERIOD_S = 0.005
PATHS = {"paths": ["first", "second"], "path": {"first": {"via": "cable1"}, "second": {"via": "cable2"}}}


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=30)


class Machines:
    """The drone's and the gcs' network namespaces, with two cables between them."""

    def __init__(self) -> None:
        self.drone, self.gcs = f"pqcmav-d{os.getpid()}", f"pqcmav-g{os.getpid()}"

    def build(self) -> None:
        for name in (self.drone, self.gcs):
            ip("netns", "add", name)
            for setting in ("all", "default"):  # the answer may leave by the other cable
                ip("netns", "exec", name, "sysctl", "-qw", f"net.ipv4.conf.{setting}.rp_filter=0")
            ip("-n", name, "link", "set", "lo", "up")
        for number in (1, 2):
            cable = f"cable{number}"
            ip("-n", self.drone, "link", "add", cable, "type", "veth", "peer", "name", cable, "netns", self.gcs)
            for name, host in ((self.drone, 1), (self.gcs, 2)):
                ip("-n", name, "address", "add", f"10.214.{number}.{host}/24", "dev", cable)
                ip("-n", name, "link", "set", cable, "up")
        ip("-n", self.gcs, "address", "add", f"{GCS}/32", "dev", "lo")
        self.route(1)

    def route(self, cable: int) -> None:
        """The drone's way to the gcs is this cable from now on."""
        ip("-n", self.drone, "route", "replace", GCS, "via", f"10.214.{cable}.2")

    def cut(self, cable: int) -> None:
        """The cable loses everything."""
        ip("-n", self.gcs, "link", "set", f"cable{cable}", "down")

    def remove(self) -> None:
        for name in (self.drone, self.gcs):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, timeout=30)


@pytest.fixture
def machines() -> Iterator[Machines]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and iproute2")
    made = Machines()
    try:
        try:
            made.build()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
        yield made
    finally:
        made.remove()


def on(machine: str, make: Callable[[], Any]) -> Any:
    """What `make` makes on another machine: sockets and threads stay where they were made."""
    made: list[Any] = []

    def go() -> None:
        with Path("/run/netns", machine).open() as there:
            if ctypes.CDLL(None, use_errno=True).setns(there.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        made.append(make())

    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    return made[0]


def started(config: dict[str, Any]) -> tunnel.Engine:
    engine = tunnel.Engine(config)
    engine.start()
    return engine


def address(sock: socket.socket) -> str:
    host, port = sock.getsockname()
    return f"{host}:{port}"


class Numbers:
    """Sends numbers to a plaintext port, 200 a second, and keeps those that came the other way."""

    def __init__(self, machine: str) -> None:
        self.socket = on(machine, udp)
        self.socket.settimeout(0.05)
        self.got: list[int] = []
        self.sent = 0
        self._over, self._gone = threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, to: tuple[str, int]) -> None:
        self._threads = [threading.Thread(target=self._send, args=(to,)), threading.Thread(target=self._receive)]
        for thread in self._threads:
            thread.start()

    def quiet(self) -> None:
        """Sends nothing more."""
        self._over.set()
        self._threads[0].join()

    def stop(self) -> None:
        self._over.set()
        self._gone.set()
        for thread in self._threads:
            thread.join()

    def _send(self, to: tuple[str, int]) -> None:
        while not self._over.wait(PERIOD_S):
            self.socket.sendto(b"%d" % self.sent, to)
            self.sent += 1

    def _receive(self) -> None:
        while not self._gone.is_set():
            try:
                self.got.append(int(self.socket.recv(100)))
            except TimeoutError:
                continue


@contextmanager
def flight(
    machines: Machines, keys: Path, **more: Any
) -> Iterator[tuple[tunnel.Engine, tunnel.Engine, Numbers, Numbers]]:
    """gcs, drone and what flies through them."""
    with ExitStack() as stack:
        ground, vehicle = Numbers(machines.gcs), Numbers(machines.drone)
        station = gcs_config(keys, bind="", drone={"uav1": {"plain_peer": address(ground.socket)}})
        gcs = on(machines.gcs, lambda: started(station))
        stack.callback(gcs.stop)
        vessel = drone_config(keys, gcs.ports(), bind="", peer=GCS, plain_peer=address(vehicle.socket), **more)
        drone = on(machines.drone, lambda: started(vessel))
        stack.callback(drone.stop)
        assert eventually(lambda: all(end.status()[0]["state"] == "UP" for end in (gcs, drone)))
        for numbers, end in ((vehicle, drone), (ground, gcs)):
            stack.callback(numbers.stop)
            numbers.start(("127.0.0.1", end.ports()["plain"]["uav1"]))
        yield gcs, drone, ground, vehicle


def test_a_change_of_route_moves_the_session_while_both_cables_live(machines: Machines, keys: Path) -> None:
    with flight(machines, keys) as (gcs, drone, ground, vehicle):
        session = drone.status()[0]["session_id"]
        assert gcs.status()[0]["peer"].startswith("10.214.1.1:")
        assert eventually(lambda: len(vehicle.got) > 100)
        machines.route(2)
        assert eventually(lambda: gcs.status()[0]["peer"].startswith("10.214.2.1:")), "the old cable answers no more"
        machines.cut(1)
        before = len(vehicle.got)
        assert eventually(lambda: len(vehicle.got) > before + 200)
        for numbers in (ground, vehicle):
            numbers.quiet()
        assert eventually(lambda: len(vehicle.got) >= ground.sent and len(ground.got) >= vehicle.sent, 2.0)
        assert vehicle.got == list(range(ground.sent)), "every command, once, in order"
        assert ground.got == list(range(vehicle.sent))
        assert drone.status()[0]["session_id"] == session, "no handshake was needed"
        assert gcs.stats()[0]["roams"] == 1


def states(drone: tunnel.Engine) -> dict[str, dict[str, Any]]:
    """The drone's paths by their names."""
    answer = json.loads(tunnel.Door(drone).ask('{"v": 1, "command": "status"}'))
    return {path["name"]: path for path in answer["result"]["tunnels"][0]["paths"]}


def both_routed(machines: Machines) -> None:
    """Each interface has a way to the gcs, as a network manager makes it."""
    for cable in (1, 2):
        way = ("via", f"10.214.{cable}.2", "dev", f"cable{cable}", "metric", str(100 + cable))
        ip("-n", machines.drone, "route", "replace", GCS, *way)


def put_back(machines: Machines, cable: int) -> None:
    """A cable as it was, which is another interface to the kernel."""
    name = f"cable{cable}"
    ip("-n", machines.drone, "link", "add", name, "type", "veth", "peer", "name", name, "netns", machines.gcs)
    for end, host in ((machines.drone, 1), (machines.gcs, 2)):
        ip("-n", end, "address", "add", f"10.214.{cable}.{host}/24", "dev", name)
        ip("-n", end, "link", "set", name, "up")


def flows(ground: Numbers, vehicle: Numbers) -> bool:
    """More comes both ways."""
    before = len(ground.got), len(vehicle.got)
    return eventually(lambda: len(ground.got) > before[0] + 100 and len(vehicle.got) > before[1] + 100)


def test_a_cable_that_loses_everything_gives_way_and_is_taken_again(machines: Machines, keys: Path) -> None:
    both_routed(machines)
    with flight(machines, keys, **PATHS) as (gcs, drone, ground, vehicle):
        assert gcs.status()[0]["peer"].startswith("10.214.1.1:")
        assert eventually(lambda: states(drone)["second"]["state"] == "good")
        machines.cut(1)
        assert eventually(lambda: states(drone)["second"]["state"] == "best")
        assert flows(ground, vehicle)
        ip("-n", machines.gcs, "link", "set", "cable1", "up")
        assert eventually(lambda: states(drone)["first"]["state"] == "best")
        assert flows(ground, vehicle)
        for numbers in (ground, vehicle):
            assert len(set(numbers.got)) == len(numbers.got), "nothing twice"
        assert drone.status()[0]["handshakes_ok"] == 1


def test_an_interface_may_come_late_and_come_back(machines: Machines, keys: Path) -> None:
    ip("-n", machines.drone, "link", "delete", "cable1")
    ip("-n", machines.drone, "route", "replace", GCS, "via", "10.214.2.2", "dev", "cable2", "metric", "102")
    with flight(machines, keys, **PATHS) as (_gcs, drone, ground, vehicle):
        assert states(drone)["first"]["problem"] == "There is no network interface 'cable1' now."
        for _ in range(2):
            assert eventually(lambda: states(drone)["second"]["state"] == "best")
            assert flows(ground, vehicle)
            put_back(machines, 1)
            both_routed(machines)
            assert eventually(lambda: states(drone)["first"]["state"] == "best")
            assert flows(ground, vehicle)
            ip("-n", machines.drone, "link", "delete", "cable1")
        assert drone.status()[0]["handshakes_ok"] == 1
