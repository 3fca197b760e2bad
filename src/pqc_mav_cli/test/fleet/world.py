# SPDX-License-Identifier: Apache-2.0
"""An operator, two stations that follow a registry, and that registry: a real nats-server."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

import nats
from commands import Running, pqcmav
from nats.js import JetStreamContext
from nats.js.kv import KeyValue
from stations import HOST, STATIONS, Stations

from pqc_mav_common.testing import until

SERVER = shutil.which("nats-server")


class World:
    """An operator, two stations that follow, and the registry's server, which anybody here may use."""

    def __init__(self, stations: Stations) -> None:
        self.stations = stations
        with socket.socket() as free:
            free.bind((HOST, 0))
            self.port = free.getsockname()[1]
        self.url = f"nats://{HOST}:{self.port}"
        self.root = ["--root", str(stations.root)]
        self.followers: dict[str, Running] = {}
        self.serve()
        self.good("init", *self.root)
        for name in STATIONS:
            state = stations.folder / f"{name}-state"
            public = stations.folder / f"{name}.pub"
            public.write_text(self.good("station-key", "--state", str(state)))
            self.good("station", name, str(public), *self.root)

    def serve(self) -> None:
        assert SERVER
        where = ["-a", HOST, "-p", str(self.port), "-js", "-sd", str(self.stations.folder / "jetstream")]
        self.server = subprocess.Popen([SERVER, *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self.listens, "the registry listens", 30)

    def listens(self) -> bool:
        with suppress(OSError), socket.create_connection((HOST, self.port), 1):
            return True
        return False

    def follow(self, name: str, *more: str, ready: str = "follows the registry") -> Running:
        keys, run = str(self.stations.keys(name)), str(self.stations.socket(name))
        place = ["--state", str(self.stations.folder / f"{name}-state"), "--gcs-keys", keys, "--socket", run]
        operator = str(self.stations.root / "fleet" / "operator.pub")
        self.followers[name] = Running("fleet", "follow", operator, *place, *more, "--registry", self.url)
        self.followers[name].wait_for(ready)
        return self.followers[name]

    def good(self, *arguments: str) -> str:
        ended = pqcmav("fleet", *arguments)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def told(self, *arguments: str) -> str:
        return self.good(*arguments, "--registry", self.url, *self.root)

    def close(self) -> None:
        for each in self.followers.values():
            each.end()
        self.server.kill()
        self.server.wait(10)

    def as_a_member(self, act: Callable[[KeyValue], Awaitable[None]]) -> None:
        """With every right that the store gives, and no key of ours."""

        async def of_entries(stream: JetStreamContext) -> None:
            await act(await stream.key_value("pqcmav"))

        self.at_the_store(of_entries)

    def at_the_store(self, act: Callable[[JetStreamContext], Awaitable[None]]) -> None:
        """The same, of all that is there."""

        async def run() -> None:
            connection = await nats.connect(self.url)
            await act(connection.jetstream())
            await connection.close()

        asyncio.run(run())


@contextmanager
def world_of(stations: Stations) -> Iterator[World]:
    world = World(stations)
    try:
        yield world
    finally:
        world.close()
