# SPDX-License-Identifier: Apache-2.0
"""All stations on one page: where each drone is, what happened, and what it means if the registry or a station goes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands import Running, pqcmav
from nats.errors import ConnectionClosedError
from websockets.asyncio.client import connect
from world import World

from pqc_mav_cli.fleet import board as module

Messages = list[dict[str, Any]]


class Board:
    """`pqcmav dashboard --fleet` as the operator starts it."""

    def __init__(self, world: World) -> None:
        self.running = Running("dashboard", "--fleet", "--port", "0", "--registry", world.url, *world.root)
        self.url = self.running.wait_for("http://").string.strip().rstrip("/")

    def look(self, what: str, enough: Callable[[dict[str, Any]], bool], seconds: float = 60.0) -> dict[str, Any]:
        """The first message about the fleet ("") or a drone that says enough; rows of changes are put together."""

        async def watch() -> dict[str, Any]:
            host = self.url.removeprefix("http://")
            rows: dict[str, dict[str, Any]] = {}
            async with connect(f"ws://{host}/ws", origin=self.url, proxy=None) as page:  # type: ignore[arg-type]
                columns = json.loads(await page.recv())["columns"]
                await page.send(json.dumps({"v": 1, "look": what}))
                while True:
                    message: dict[str, Any] = json.loads(await page.recv())
                    for gone in [*rows] if message["whole"] else message.get("gone", ()):
                        rows.pop(gone, None)
                    rows |= {row[0]: dict(zip(columns, row, strict=True)) for row in message.get("rows", ())}
                    message["drones"] = rows
                    if enough(message):
                        return message

        return asyncio.run(asyncio.wait_for(watch(), seconds))


@pytest.fixture
def board(world: World) -> Iterator[Board]:
    world.told("add", "d7", "d8")
    made = Board(world)
    yield made
    made.running.end()


def at(message: dict[str, Any]) -> dict[str, str | None]:
    return {drone: row["station"] for drone, row in message["drones"].items()}


def test_each_drone_is_where_it_is(world: World, board: Board) -> None:
    for drone, station in {"d1": "north", "d7": "south"}.items():
        world.stations.fly(drone, station)
    seen = board.look("", lambda said: at(said) == {"d1": "north", "d7": "south", "d8": None})
    row = seen["drones"]["d7"]
    assert row["state"] == "UP" and row["suite"] == "cs-mlkem512-aesgcm-mldsa44" and row["key_made_s"] is not None
    assert seen["drones"]["d8"]["state"] == "DOWN" and seen["notes"] == []
    full = board.look("", lambda said: said["drones"].get("d7", {}).get("rx_bit_s"))  # once rates are known
    assert full["drones"]["d7"]["loss"] is not None
    world.stations.ask("south", "rekey", drone="d7")
    shown = board.look("d7", lambda said: len(said.get("handshakes", ())) == 2)
    assert [each["kind"] for each in shown["handshakes"]] == ["rekey", "first"]
    assert {each["end"] for each in shown["events"]} == {"south"} and shown["ends"][0]["status"]["epoch"] == 1
    assert {*shown["actions"].values()} == {"The registry only shows: ask at the drone's ground station."}


def test_a_registry_that_is_away_is_said_and_no_link_ends(world: World, board: Board) -> None:
    engine = world.stations.fly("d7", "south")
    board.look("", lambda said: at(said).get("d7") == "south")
    world.server.kill()
    world.server.wait(10)
    board.look("", lambda said: any("No registry answers" in note for note in said["notes"]))
    silent = board.look("", lambda said: said["drones"].get("d7", {}).get("state") == "SILENT")
    assert any("south has said nothing for" in note for note in silent["notes"])
    assert engine.status()[0]["state"] == "UP"
    world.serve()
    board.look("", lambda said: said["drones"].get("d7", {}).get("state") == "UP" and said["notes"] == [])


def test_what_the_operator_changes_is_seen_at_once(world: World, board: Board) -> None:
    board.look("", lambda said: {*said["drones"]} == {"d1", "d7", "d8"})
    world.told("remove", "--yes", "d8")
    world.told("add", "d9")
    board.look("", lambda said: "d9" in said["drones"])
    board.look("", lambda said: {*said["drones"]} == {"d1", "d7", "d9"})


def test_a_registry_that_ends_before_it_is_watched_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that ends between its beginning and the first question is said, and not the end of the page."""
    said: list[str] = []

    class Registry:
        def __init__(self, *answers: Any) -> None:
            self._answers = answers

        async def watch(self, *_: Any) -> AsyncIterator[Any]:
            for each in self._answers:
                if isinstance(each, Exception):
                    raise each
                yield each

    async def always(*_: Any) -> AsyncIterator[Registry]:
        for lost in (ConnectionClosedError(), TimeoutError()):
            yield Registry(lost)
            said.append(made._problem)
        yield Registry(("view.north", b"x"), None)
        await asyncio.Event().wait()

    async def scene() -> None:
        await made.start()
        await made.stop()

    monkeypatch.setattr(module, "Book", lambda _: SimpleNamespace(stations=lambda: ["north"]))
    monkeypatch.setattr(module, "always", always)
    made = module.Board(tmp_path, "nats://x")
    asyncio.run(scene())
    assert said == [
        "The registry cannot be watched: nats: connection closed.",
        "The registry cannot be watched: TimeoutError.",
    ]
    assert made._problem == "" and list(made._new) == ["north"]


def test_a_board_without_a_registry_or_an_operator_is_one_sentence(world: World) -> None:
    for arguments, words in [
        (["--fleet", *world.root], "Say by --registry or PQCMAV_REGISTRY"),
        (["--fleet", "--root", "/nowhere", "--registry", "nats://x"], "'pqcmav fleet init' makes one"),
        (["--fleet", "--socket", "x"], "leave --replay and --socket out"),
    ]:
        ended = pqcmav("dashboard", *arguments)
        (line,) = ended.stderr.splitlines()
        assert ended.returncode == 2 and words in line, line
