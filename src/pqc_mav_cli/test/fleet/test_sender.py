# SPDX-License-Identifier: Apache-2.0
"""Recordings of a station's folder come to the operator whole, each once; a full or lying store costs no other one."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from commands import Running, pqcmav
from nats.js import JetStreamContext
from nats.js.api import ObjectMeta, ObjectStoreConfig
from stations import Stations
from world import SERVER, World, world_of

from pqc_mav_cli.fleet.sender import Sender
from pqc_mav_cli.fleet.store import registry
from pqc_mav_common.testing import until

RECORDED = Path(__file__).parents[4] / "bench" / "results" / "flights" / "simulated-low-battery.mcap"
pytestmark = pytest.mark.skipif(
    SERVER is None or not RECORDED.exists(), reason="nats-server or the repository's recorded flight is not here"
)


def begin(world: World, folder: Path) -> Running:
    """A station that has its key sends what is in a folder."""
    folder.mkdir(exist_ok=True)
    follower = world.follow("north", "--flights", str(folder))
    world.follow("south")
    world.told("add", "d7")
    return follower


def put(folder: Path, name: str) -> Path:
    """As the recorder completes a file."""
    partial = folder / f"{name}.partial"
    shutil.copy(RECORDED, partial)
    return partial.rename(folder / name)


def listed(said: str) -> list[str]:
    return [line.split()[-2] for line in said.splitlines()]


def test_flights_are_sent_once_found_and_fetched(stations: Stations, tmp_path: Path) -> None:
    folder, got = tmp_path / "flights", tmp_path / "got"
    with world_of(stations) as world:
        assert world.told("flights") == ""
        follower = begin(world, folder)
        (folder / "flight_c.mcap.partial").write_bytes(b"still being written")
        (folder / "broken.mcap").write_bytes(b"nonsense")
        first = put(folder, "flight_a.mcap")
        follower.wait_for("broken.mcap is not sent: ")
        follower.wait_for("flight_a.mcap sent, ")
        (line,) = world.told("flights").splitlines()
        assert line.split()[-2:] == ["north/flight_a.mcap", "demo"]
        assert world.told("flights", "--drone", "d7") == "" and world.told("flights", "--drone", "demo") != ""
        assert world.told("flights", "--since", "2100-01-01") == "" == world.told("flights", "--until", "2000-01-01")
        world.told("flights", "--get", str(got))
        assert (got / "north-flight_a.mcap").read_bytes() == first.read_bytes()
        assert [path.name for path in got.iterdir()] == ["north-flight_a.mcap"]

        follower.end()
        follower = world.follow("north", "--flights", str(folder))
        put(folder, "flight_b.mcap")
        follower.wait_for("flight_b.mcap sent, ")
        assert not any("flight_a" in line for line in follower.lines), "known after a restart"


def test_the_oldest_of_a_station_gives_way_when_the_registry_is_full(stations: Stations, tmp_path: Path) -> None:
    folder = tmp_path / "flights"
    with world_of(stations) as world:

        async def small(stream: JetStreamContext) -> None:
            room = int(2.5 * RECORDED.stat().st_size)
            made = await stream.create_object_store("pqcmav-flights", config=ObjectStoreConfig(max_bytes=room))
            await made.put("south/flight_0.mcap", b"of another station")

        world.at_the_store(small)
        follower = begin(world, folder)
        for name in "abc":
            put(folder, f"flight_{name}.mcap")
            follower.wait_for(f"flight_{name}.mcap sent, ")
        follower.wait_for("north/flight_a.mcap gave way to a newer flight")
        large = folder / "flight_d.mcap.partial"
        large.write_bytes(RECORDED.read_bytes() * 3)  # what comes after the end is not read, but sent
        large.rename(folder / "flight_d.mcap")
        follower.wait_for("flight_d.mcap, 1,373,619 bytes, is not sent before a restart: The registry has no room")
        put(folder, "flight_e.mcap")
        follower.wait_for("flight_e.mcap sent, ")
        ended = pqcmav("fleet", "flights", "--registry", world.url, *world.root)
        assert listed(ended.stdout) == ["north/flight_c.mcap", "north/flight_e.mcap"]
        assert "Left out 1 that no station of this fleet has sent." in ended.stderr


class CutOff(io.BytesIO):
    """As where the connection is lost, or the process ends, after a piece."""

    def readinto(self, buffer: Any) -> int:
        if self.tell():
            raise asyncio.CancelledError
        return super().readinto(buffer)


def test_an_upload_that_was_cut_off_takes_no_room(stations: Stations, tmp_path: Path) -> None:
    folder = tmp_path / "flights"
    folder.mkdir()
    state = stations.folder / "north-state" / "flights.json"

    def taken(world: World) -> int:
        found: list[int] = []

        async def look(stream: JetStreamContext) -> None:
            found.append((await stream.stream_info("OBJ_pqcmav-flights")).state.bytes)

        world.at_the_store(look)
        return found[0]

    async def cut(url: str, sender: Sender) -> None:
        async with registry(url) as found:
            with pytest.raises(asyncio.CancelledError):
                await found.put_flight("north/x.mcap", "{}", CutOff(bytes(1 << 20)), sender._keep)

    with world_of(stations) as world:
        asyncio.run(cut(world.url, Sender("north", folder, state, print)))
        assert taken(world) > 100_000
        world.follow("north", "--flights", str(folder))
        until(lambda: taken(world) == 0, "the station has removed what it left")
        until(lambda: json.loads(state.read_text())["begun"] == "", "and knows that it has")


def test_who_can_write_to_the_store_cannot_change_a_flight(stations: Stations, tmp_path: Path) -> None:
    folder, got = tmp_path / "flights", tmp_path / "got"
    with world_of(stations) as world:
        follower = begin(world, folder)
        for name in "ab":
            put(folder, f"flight_{name}.mcap")
            follower.wait_for(f"flight_{name}.mcap sent, ")

        async def lie(stream: JetStreamContext) -> None:
            store = await stream.object_store("pqcmav-flights")
            first, second = [await store.get(f"north/flight_{name}.mcap") for name in "ab"]
            assert first.data and second.data and b"mcap" not in first.data.lower()
            for name, data, told in [
                ("north/flight_a.mcap", second.data, first.info.description),  # another flight's content
                ("north/flight_d.mcap", first.data, first.info.description),  # under another name
                ("north/../../x.mcap", first.data, first.info.description),
                ("x", b"x", "x" * 100),
            ]:
                await store.put(name, data, ObjectMeta(name=name, description=told))

        world.at_the_store(lie)
        ended = pqcmav("fleet", "flights", "--get", str(got), "--registry", world.url, *world.root)
        assert ended.returncode == 1 and "something else in the place of this flight" in ended.stderr
        assert "Left out 3 that no station of this fleet has sent." in ended.stderr
        assert listed(ended.stdout) == ["north/flight_a.mcap", "north/flight_b.mcap"]
        assert "1 flight cannot be fetched" in ended.stderr
        assert [path.name for path in got.iterdir()] == ["north-flight_b.mcap"], "nothing is kept of it alone"
