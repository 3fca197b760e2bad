# SPDX-License-Identifier: Apache-2.0
"""One command adds, removes and steers drones at two stations; a store that lies, or is gone, changes nothing."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
import yaml
from commands import pqcmav
from nats.js.kv import KeyValue
from stations import HOST, STATIONS, Stations
from world import World, world_of

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.fleet import command, desk
from pqc_mav_cli.fleet.book import Book
from pqc_mav_cli.fleet.identity import Station
from pqc_mav_common.testing import until


def test_a_drone_is_added_once_and_every_station_has_it(world: World) -> None:
    flying = world.stations.fly("d1", "north")
    said = world.told("add", "d7", "d8")
    assert {line.split(" (")[0] for line in said.splitlines()} == {
        f"{name}: {drone} there" for name in STATIONS for drone in ("d7", "d8")
    }
    for name in STATIONS:
        assert world.stations.drones_of(name) == ["d1", "d7", "d8"]
        assert world.stations.fly("d7", name).status()[0]["state"] == "UP"
    listed = world.told("list").splitlines()
    assert listed == [f"{drone}  north: there; south: there" for drone in ("d7", "d8")]
    flown = world.stations.drones[-1]
    asked = pqcmav("fleet", "remove", "d7", "--registry", world.url, *world.root)
    assert asked.returncode == 2 and "Nobody can be asked whether the keys of d7 may go" in asked.stderr
    assert "south: d7 removed" in world.told("remove", "--yes", "d7")
    until(lambda: flown.status()[0]["state"] != "UP", "the session of d7 has ended")
    assert world.stations.drones_of("south") == ["d1", "d8"]
    assert not (world.stations.root / "drones" / "d7").exists()
    assert "north: avoided: Falcon" in world.told("avoid", "Falcon")
    assert "avoid  north: avoided: Falcon" in world.told("list")
    assert flying.status()[0]["epoch"] == 0 and flying.status()[0]["state"] == "UP"


def test_the_operator_sees_where_each_drone_is(world: World) -> None:
    world.told("add", "d7", "d8")
    world.stations.fly("d7", "south")
    world.stations.fly("d8", "north")

    def seen() -> list[list[str]]:
        ended = pqcmav("fleet", "status", "--registry", world.url, *world.root)
        return [line.split()[:3] for line in ended.stdout.splitlines()[1:]] if ended.returncode == 0 else []

    # d1 is in no entry and has no session, so it counts as down until it flies.
    world.stations.fly("d1", "north")
    until(lambda: seen() == [["d1", "north", "UP"], ["d7", "south", "UP"], ["d8", "north", "UP"]], "all are seen", 60)
    old: list[bytes] = []

    async def note(bucket: KeyValue) -> None:
        old.append((await bucket.get("view.south")).value or b"")

    world.as_a_member(note)
    assert b"mlkem" not in old[0]
    world.followers["south"].end()

    async def lie(bucket: KeyValue) -> None:
        await bucket.put("view.south", (await bucket.get("view.north")).value or b"")

    world.as_a_member(lie)
    ended = pqcmav("fleet", "status", "--registry", world.url, *world.root)
    assert ended.returncode == 1 and "south has said nothing yet." in ended.stderr
    assert "1 drone without a session: d7." in ended.stderr


def test_a_drone_has_the_same_settings_at_every_station(world: World) -> None:
    suites = ["ML-512-AG-MD-44", "ML-512-CP-MD-44"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind((HOST, 0))
        endpoint = f"udp-listen:{HOST}:{taken.getsockname()[1]}"
        bad = pqcmav("fleet", "add", "d7", "--endpoint", endpoint, "--registry", world.url, *world.root)
    assert bad.returncode == 1 and "north: d7 refused: " in bad.stdout and "in use" in bad.stdout
    world.told("add", "d7", "--endpoint", "udp:127.0.0.1:14560", "--suite", suites[0], "--suite", suites[1])
    world.told("add", "d7")  # as after new keys: its settings stay
    for name in STATIONS:
        there = yaml.safe_load(world.stations.file(name).read_text())["drone"]["d7"]
        assert there == {"plain_endpoints": ["udp:127.0.0.1:14560"], "allowed_suites": suites}
    both = pqcmav("fleet", "add", "d8", "d9", "--suite", suites[0], "--registry", world.url, *world.root)
    assert both.returncode == 2 and "one drone's" in both.stderr


def test_a_registry_that_is_gone_changes_nothing_and_is_heard_when_it_is_back(world: World) -> None:
    world.told("add", "d7")
    flying = world.stations.fly("d7", "north")
    world.server.kill()
    world.server.wait(10)
    for each in world.followers.values():
        each.wait_for("All goes on as it is")
    refused = pqcmav("fleet", "add", "d8", "--registry", world.url, *world.root)
    assert refused.returncode == 1 and "No registry answers" in refused.stderr
    assert flying.status()[0]["state"] == "UP" and world.stations.drones_of("north") == ["d1", "d7"]
    world.serve()
    assert "south: d8 there" in world.told("add", "d8")
    assert world.stations.drones_of("north") == ["d1", "d7", "d8"]


def test_an_alarm_at_one_station_reaches_the_drones_of_the_other(world: World) -> None:
    world.told("add", "d7")
    flying, store = world.stations.fly("d7", "south"), dict[str, bytes]()

    def heard() -> tuple[int, str]:
        status = flying.status()[0]
        return status["peer_alarm"], status["peer_alarm_kind"]

    world.stations.ask("north", "alarm", level=2, kind="flood")
    until(lambda: heard() == (2, "flood"), "d7 has heard of it")

    async def note(bucket: KeyValue) -> None:
        store["alarm"] = (await bucket.get("warning.north")).value or b""

    world.as_a_member(note)
    world.stations.ask("north", "alarm", level=0)
    until(lambda: heard() == (0, ""), "d7 has heard that it is over")

    async def attack(bucket: KeyValue) -> None:
        await bucket.put("warning.north", store["alarm"])  # again
        await bucket.put("warning.south", store["alarm"])
        await bucket.put("warning.west", store["alarm"].replace(b'"at": 1', b'"at": 2'))

    world.as_a_member(attack)
    time.sleep(4.0)  # a drone hears with the next report, each second
    assert heard() == (0, "")


def test_a_station_that_was_away_takes_what_it_missed(world: World) -> None:
    world.followers["south"].end()
    ended = pqcmav("fleet", "add", "d7", "--registry", world.url, *world.root)
    assert ended.returncode == 1 and "north: d7 there" in ended.stdout
    assert "Not confirmed within 10 s: south." in ended.stderr
    world.stations.stop("south")
    follower = world.follow("south", ready="waits: Nobody answers at")
    world.stations.start("south")
    follower.wait_for("drone.d7, revision")
    assert world.stations.drones_of("south") == ["d1", "d7"]
    world.stations.stop("south")
    pqcmav("fleet", "remove", "--yes", "d7", "--registry", world.url, *world.root)
    follower.wait_for("waits: Nobody answers at", after=2)
    world.stations.start("south")
    follower.wait_for("removed")
    assert world.stations.drones_of("south") == ["d1"]


def test_a_station_that_cannot_do_it_is_still_seen(world: World) -> None:
    file = world.stations.file("north")
    file.unlink()
    file.mkdir()
    ended = pqcmav("fleet", "add", "d7", "--registry", world.url, *world.root)
    assert "Not confirmed within 10 s: north." in ended.stderr
    said = world.followers["north"].lines
    assert len([line for line in said if line.startswith("waits: ")]) == 1, said
    ended = pqcmav("fleet", "status", "--registry", world.url, *world.root)
    assert "d1" in ended.stdout and "north" not in ended.stderr, ended.stderr


def test_a_new_station_gets_all_drones(stations: Stations) -> None:
    with world_of(stations) as world:
        (stations.root / "fleet" / "stations" / "south.pub").unlink()
        world.follow("north")
        world.told("add", "d7")
        follower = world.follow("south")
        follower.wait_for("refused drone.d7: its keys are not sealed to this station")
        world.told("station", "south", str(stations.folder / "south.pub"))
        assert stations.drones_of("south") == ["d1", "d7"]


def test_who_can_write_to_the_store_gets_nothing_done(world: World) -> None:
    """Forges, copies, replays and deletes entries, and confirms in another station's name."""
    store: dict[str, bytes] = {}

    async def note(bucket: KeyValue) -> None:
        for name in await bucket.keys():
            store[name] = (await bucket.get(name)).value or b""

    world.told("add", "d7", "d8")
    world.as_a_member(note)
    world.told("remove", "--yes", "d7")
    psk = (world.stations.keys("north") / "psk" / "d8.key").read_text().splitlines()[-1].encode()
    assert all(psk not in value for value in store.values())

    async def attack(bucket: KeyValue) -> None:
        await bucket.put("entry.drone.d7", store["entry.drone.d7"])  # back in, with the key that was taken away
        await bucket.put("entry.drone.d9", store["entry.drone.d8"])  # a drone of the attacker's, with another's entry
        await bucket.put("entry.drone.d6", store["entry.drone.d8"].replace(b"drone.d8", b"drone.d6"))
        await bucket.put("entry.drone.d8", b'{"body": "{}", "signature": ""}')
        await bucket.put("entry.avoid", b"\xff" * 100)
        await bucket.delete("entry.drone.d8")
        await bucket.purge("entry.avoid")

    world.as_a_member(attack)
    for follower in world.followers.values():
        follower.wait_for("refused drone.d7: it is older than what this station has done already")
        follower.wait_for("refused drone.d9: it is another entry's, copied")
        follower.wait_for("refused drone.d6: this fleet's operator has not signed it")
    time.sleep(1.0)
    for name in STATIONS:
        assert world.stations.drones_of(name) == ["d1", "d8"]
    assert world.stations.fly("d8", "north").status()[0]["state"] == "UP"
    old = world.stations.root / "drones" / "d8"  # d7's own folder is gone: nothing of it would open anything
    assert not (world.stations.keys("north") / "psk" / "d7.key").exists() and old.exists()

    async def lie(bucket: KeyValue) -> None:
        for name in ("receipt.x", "receipt.north.drone", "view.north.x", "entry.x", "x"):
            await bucket.put(name, b"{}")
        for drone in ("d7", "d8"):
            await bucket.put(f"receipt.south.drone.{drone}", store["receipt.north.drone.d8"])

    world.as_a_member(lie)
    assert "d8  north: there; south: not confirmed" in world.told("list")


def test_what_cannot_be_told_changes_nothing(tmp_path: Path) -> None:
    more = ["--root", str(tmp_path), "--registry", "nats://127.0.0.1:1"]
    pqc_mav_tunnel.init_keys(str(tmp_path), ["d7"], sig_tokens=["mldsa44"])
    assert pqcmav("fleet", "init", *more[:2]).returncode == 0
    (tmp_path / "fleet" / "stations").mkdir()
    (tmp_path / "fleet" / "stations" / "gcs.pub").write_bytes(Station.make().public.pem())
    book = Book(tmp_path)
    with book.alone():
        book.changed(book.stations(), {"drone.d7": {"settings": {}}})
    ended = pqcmav("fleet", "remove", "--yes", "d7", *more)
    assert ended.returncode == 1 and "No registry answers" in ended.stderr
    assert (tmp_path / "drones" / "d7" / "psk.key").exists() and Book(tmp_path).drones() == ["d7"]
    ended = pqcmav("fleet", "avoid", "latices", *more)
    assert ended.returncode == 2 and "there is no family 'latices'" in ended.stderr


class Meanwhile:
    """A store where nobody confirms; what another command does comes first, or after what was told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
        pqc_mav_tunnel.init_keys(str(root), ["d7"], sig_tokens=["mldsa44"], stations=list(STATIONS))
        assert pqcmav("fleet", "init", "--root", str(root)).returncode == 0
        self.root, self.entries = root, dict[str, Any]()
        self.first = self.then = lambda: None
        (root / "fleet" / "stations").mkdir()
        self.let("north")
        self.write({})
        monkeypatch.setattr(desk, "registry", self.registry)

    def let(self, station: str) -> None:
        public = self.root / "fleet" / "stations" / f"{station}.pub"
        public.write_bytes(Station.make().public.pem())

    def write(self, settings: dict[str, Any] | None) -> None:
        book = Book(self.root)
        with book.alone():
            book.changed(book.stations(), {"drone.d7": {"settings": settings}})

    @asynccontextmanager
    async def registry(self, _url: str) -> AsyncIterator[Meanwhile]:
        self.first()
        yield self

    async def put(self, name: str, value: bytes) -> None:
        self.entries[name] = json.loads(json.loads(value)["body"])

    async def watch(self, *_: Any) -> AsyncIterator[None]:
        self.then()
        yield None


@pytest.fixture
def meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    return Meanwhile(monkeypatch, tmp_path)


def test_a_drone_that_is_removed_meanwhile_is_not_told_to_a_new_station(meanwhile: Meanwhile) -> None:
    meanwhile.first = lambda: meanwhile.write(None)
    public = meanwhile.root / "south.pub"
    public.write_bytes(Station.make().public.pem())
    command.station("south", public, "nats://x", meanwhile.root)
    assert meanwhile.entries == {} and Book(meanwhile.root).drones() == []


def test_a_third_station_needs_keys_and_gets_those_of_all_drones(meanwhile: Meanwhile) -> None:
    root, public = meanwhile.root, meanwhile.root / "west.pub"
    public.write_bytes(Station.make().public.pem())
    with pytest.raises(CliError, match="'pqcmav keys init DRONE --station west' makes them"):
        command.station("west", public, "nats://x", root)
    pqc_mav_tunnel.init_keys(str(root), ["d1"], sig_tokens=["mldsa44"], stations=["west"])
    with pytest.raises(CliError, match="Not confirmed"):
        command.station("west", public, "nats://x", root)
    assert [*meanwhile.entries["entry.drone.d7"]["sealed"]] == ["north", "west"]


@pytest.mark.parametrize(
    ("endpoint", "suite", "words"), [(None, ["ML-512"], "no suite"), (["nonsense"], None, "'nonsense'")]
)
def test_settings_that_no_station_could_have_are_told_to_none(
    meanwhile: Meanwhile, endpoint: list[str] | None, suite: list[str] | None, words: str
) -> None:
    with pytest.raises(CliError, match=words):
        command.add(["d8"], endpoint, suite, "nats://x", meanwhile.root)
    assert meanwhile.entries == {} and not (meanwhile.root / "drones" / "d8").exists()


def test_a_station_says_itself_whether_plaintext_may_leave_its_machine(meanwhile: Meanwhile) -> None:
    with pytest.raises(CliError, match="Not confirmed"):
        command.add(["d8"], ["udp:192.0.2.7:14550"], None, "nats://x", meanwhile.root)
    assert "entry.drone.d8" in meanwhile.entries


def test_a_station_that_comes_meanwhile_gets_the_drone_too(meanwhile: Meanwhile) -> None:
    meanwhile.first = lambda: meanwhile.let("south")
    with pytest.raises(CliError, match="Not confirmed"):
        command.add(["d7"], None, None, "nats://x", meanwhile.root)
    assert [*meanwhile.entries["entry.drone.d7"]["sealed"]] == ["north", "south"]


def test_a_drone_that_is_added_again_meanwhile_keeps_its_keys(meanwhile: Meanwhile) -> None:
    meanwhile.then = lambda: meanwhile.write({})
    with pytest.raises(CliError, match="Not confirmed"):
        command.remove(["d7"], "nats://x", meanwhile.root, yes=True)
    assert (meanwhile.root / "drones" / "d7" / "psk.key").exists() and Book(meanwhile.root).drones() == ["d7"]


def test_what_is_missing_is_one_sentence(tmp_path: Path) -> None:
    root = ["--root", str(tmp_path)]
    for arguments, words in [
        (["add", "d1", *root], "'pqcmav fleet init' makes one"),
        (["follow", str(tmp_path / "o"), "--state", str(tmp_path), "--gcs-keys", str(tmp_path)], "station-key' makes"),
        (["follow", str(tmp_path / "o")], "Say by --gcs-keys"),
    ]:
        ended = pqcmav("fleet", *arguments)
        (line,) = ended.stderr.splitlines()
        assert ended.returncode == 2 and words in line, line
    assert pqcmav("fleet", "init", *root).returncode == 0
    assert "is there already, and stays" in pqcmav("fleet", "init", *root).stderr
    public = tmp_path / "fleet" / "operator.pub"
    before = public.read_bytes()
    public.unlink()  # as a crash between the two files leaves it
    assert pqcmav("fleet", "init", *root).returncode == 0 and public.read_bytes() == before
    assert "No station has a key here yet" in pqcmav("fleet", "avoid", "none", "--registry", "nats://x", *root).stderr
    assert Path(tmp_path / "fleet" / "operator.pem").stat().st_mode & 0o777 == 0o600
