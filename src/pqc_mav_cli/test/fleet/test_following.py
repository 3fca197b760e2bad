# SPDX-License-Identifier: Apache-2.0
"""A station goes on whatever its connection does, and does all that came at once in one go."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from nats.errors import ConnectionClosedError

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.fleet import entry, following
from pqc_mav_cli.fleet.entry import Order
from pqc_mav_cli.fleet.follower import Follower
from pqc_mav_cli.fleet.identity import Operator, Station
from pqc_mav_cli.fleet.store import DeniedError

OPERATOR, NORTH = Operator.make(), Station.make()


class Store:
    """Shows these entries, then is lost."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.receipts: list[str] = []

    async def watch(self, names: str, _every_s: float = 0.0) -> AsyncIterator[tuple[str, bytes] | None]:
        yield None
        if names != "entry.>":
            return
        for revision, name in enumerate(self.names):
            sealed = {"north": (NORTH.public, {"psk.key": "x"})}
            yield f"entry.{name}", entry.make(OPERATOR, name, revision, {"settings": {}}, sealed)
        if not self.names:
            raise ConnectionClosedError

    async def put(self, name: str, _value: bytes) -> None:
        self.receipts.append(name)


class Hands:
    def __init__(self) -> None:
        self.calls: list[int] = []
        self.go_on = threading.Event()  # drones are silent until then

    def do(self, orders: Sequence[Order]) -> list[str | Callable[[], str]]:
        self.calls.append(len(orders))
        return ["there" if order.drone_id else self.renew for order in orders]

    def renew(self) -> str:
        assert self.go_on.wait(30)
        return "avoided"

    def look(self, *_: Any) -> Any:
        raise CliError("it does not run")

    alarm = warn = look


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Hands]:
    def run(*stores: Store, hands: Hands | None = None, said: list[str] | None = None) -> Hands:
        async def one_after_the_other(*_: Any) -> AsyncIterator[Store]:
            for store in stores:
                yield store

        monkeypatch.setattr(following, "always", one_after_the_other)
        hands, said = hands or Hands(), [] if said is None else said
        follower = Follower("north", NORTH, OPERATOR.public, tmp_path / "done.json", said.append)
        asyncio.run(following.follow_registry(follower, hands, None, "nats://x", said.append))  # type: ignore[arg-type]
        return hands

    return run


def test_a_connection_that_is_lost_before_anything_came_is_followed_by_the_next(follow: Callable[..., Hands]) -> None:
    good = Store(["drone.d7"])
    assert follow(Store([]), good).calls == [1]
    assert good.receipts == ["receipt.north.drone.d7"]


def test_what_came_meanwhile_is_done_in_one_go(follow: Callable[..., Hands]) -> None:
    store = Store([f"drone.d{i}" for i in range(30)])
    assert follow(store).calls == [30]
    assert len(store.receipts) == 30


def test_a_drone_is_removed_while_others_are_silent_about_new_keys(follow: Callable[..., Hands]) -> None:
    hands = Hands()

    class Later(Store):
        async def watch(self, names: str, _every_s: float = 0.0) -> AsyncIterator[tuple[str, bytes] | None]:
            yield None
            if names != "entry.>":
                return
            yield (
                "entry.avoid",
                entry.make(OPERATOR, "avoid", 1, {"families": ["Falcon"]}, {"north": (NORTH.public, {})}),
            )
            while not hands.calls:
                await asyncio.sleep(0.01)
            yield (
                "entry.drone.d7",
                entry.make(OPERATOR, "drone.d7", 2, {"settings": None}, {"north": (NORTH.public, {})}),
            )
            while not self.receipts:
                await asyncio.sleep(0.01)
            hands.go_on.set()
            while len(self.receipts) < 2:
                yield None
                await asyncio.sleep(0.01)

    store = Later([])
    follow(store, hands=hands)
    assert store.receipts == ["receipt.north.drone.d7", "receipt.north.avoid"]
    assert hands.calls == [1, 1], "no order is begun twice"


def test_a_server_that_lets_it_write_nothing_is_named_once(follow: Callable[..., Hands]) -> None:
    class Denied(Store):
        async def put(self, _name: str, _value: bytes) -> None:
            raise DeniedError('permissions violation for publish to "x"')

    said: list[str] = []
    follow(Denied(["drone.d7"]), Denied(["drone.d7"]), said=said)
    assert [line for line in said if "permissions" in line] == [
        'the registry at x:4222 does not let this station tell what it does: permissions violation for publish to "x"'
    ]
