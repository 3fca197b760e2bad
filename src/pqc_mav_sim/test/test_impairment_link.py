# SPDX-License-Identifier: Apache-2.0
"""The link process itself, with datagram socket pairs in the place of TAP devices; and on real ones with root."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pqc_mav_sim.impairment.netns import Namespace
from pqc_mav_sim.impairment.tap import open_tap

DEADLINE_S = 10.0


class LinkProcess:
    def __init__(self, *options: str) -> None:
        self.drone, a = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.ground, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in (self.drone, self.ground):
            end.settimeout(DEADLINE_S)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pqc_mav_sim.impairment", str(a.fileno()), str(b.fileno()), *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(a.fileno(), b.fileno()), text=True,
        )  # fmt: skip
        a.close()
        b.close()

    def tell(self, **command: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(DEADLINE_S) == 0
        self.drone.close()
        self.ground.close()


@pytest.fixture
def link() -> Iterator[LinkProcess]:
    process = LinkProcess("--seed", "3")
    yield process
    process.close()


def silent(end: socket.socket) -> bool:
    return not select.select([end], [], [], 0.2)[0]


def test_frames_pass_both_ways_unchanged(link: LinkProcess) -> None:
    for i in range(100):
        link.drone.send(b"down %d" % i)
        link.ground.send(b"up %d" % i)
    assert [link.ground.recv(100) for _ in range(100)] == [b"down %d" % i for i in range(100)]
    assert [link.drone.recv(100) for _ in range(100)] == [b"up %d" % i for i in range(100)]
    counters = link.tell(counters=True)["counters"]
    assert counters["a_to_b"]["entered"] == {"other": 100}
    assert counters["b_to_a"]["lost"] == {}


def test_settings_change_live_and_per_direction(link: LinkProcess) -> None:
    assert link.tell(impair={"down": True}, directions=["a_to_b"])["ok"]
    link.drone.send(b"lost")
    link.ground.send(b"passes")
    assert link.drone.recv(100) == b"passes"
    assert silent(link.ground)
    assert link.tell(impair={"down": False, "delay_ms": 50})["ok"]
    start = time.monotonic()
    link.drone.send(b"late")
    assert link.ground.recv(100) == b"late"
    assert time.monotonic() - start >= 0.050
    assert link.tell(counters=True)["counters"]["a_to_b"]["lost"] == {"down": {"other": 1}}


def test_loss_and_duplicates_add_up(link: LinkProcess) -> None:
    link.tell(impair={"loss": 0.3, "duplicate": 0.2})
    for i in range(300):
        link.drone.send(b"%d" % i)
    arrived = 0
    while not silent(link.ground):
        link.ground.recv(100)
        arrived += 1
    way = link.tell(counters=True)["counters"]["a_to_b"]
    assert arrived == 300 - way["lost"]["loss"]["other"] + way["doubled"]["other"]
    assert 50 < way["lost"]["loss"]["other"] < 130


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ({"impair": {"loss": 2}}, "loss"),
        ({"impair": {"lag": 2}}, "lag"),
        ({"impair": {"loss": 0.1}, "directions": ["up"]}, "up"),
        ({"rebind": True}, "--nat"),
    ],
)
def test_bad_commands_are_answered_and_change_nothing(link: LinkProcess, command: dict[str, Any], word: str) -> None:
    answer = link.tell(**command)
    assert not answer["ok"]
    assert word in answer["error"]
    link.drone.send(b"still there")
    assert link.ground.recv(100) == b"still there"


def root_namespaces() -> tuple[Namespace, Namespace]:
    try:
        return Namespace(), Namespace()
    except OSError:
        pytest.skip("needs root: network namespaces cannot be made")


def test_tap_devices_of_two_namespaces_are_joined() -> None:
    spaces = root_namespaces()
    taps: list[int] = []
    process: subprocess.Popen[bytes] | None = None
    sockets: list[socket.socket] = []
    try:
        for number, space in enumerate(spaces, start=1):
            try:
                taps.append(space.call(lambda: open_tap("air0")))
            except OSError as error:
                pytest.skip(f"this kernel has no TAP devices: {error}")
            for command in (f"addr add 10.9.8.{number}/24 dev air0", "link set air0 up", "link set lo up"):
                space.call(lambda command=command: subprocess.run(["ip", *command.split()], check=True))
        process = subprocess.Popen(
            [sys.executable, "-m", "pqc_mav_sim.impairment", *map(str, taps)], stdin=subprocess.PIPE, pass_fds=taps
        )
        for number, space in enumerate(spaces, start=1):
            end = space.call(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            end.bind((f"10.9.8.{number}", 5000))
            end.settimeout(DEADLINE_S)
            sockets.append(end)
        sockets[0].sendto(b"over the air", ("10.9.8.2", 5000))
        assert sockets[1].recv(100) == b"over the air"
    finally:
        for end in sockets:
            end.close()
        if process is not None:
            process.communicate(timeout=DEADLINE_S)
        for tap in taps:
            os.close(tap)
        for space in spaces:
            space.close()
