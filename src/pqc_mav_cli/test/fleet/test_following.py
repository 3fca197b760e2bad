# SPDX-License-Identifier: Apache-2.0
"""A station goes on whatever its connection does, and does all that came at once in one go."""

from __future__ import annotations

import asyncio
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

OPERATOR, NORTH = Operator.make(), Station.make()


class Store:
    """Shows these entries, then is lost."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.receipts: list[str] = []

    async def watch(self, _names: str, _every_s: float) -> AsyncIterator[tuple[str, bytes] | None]:
        yield None
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

    def do(self, orders: Sequence[Order]) -> list[str]:
        self.calls.append(len(orders))
        return ["there"] * len(orders)

    def look(self, *_: Any) -> Any:
        raise CliError("it does not run")


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Hands]:
    def run(*stores: Store) -> Hands:
        async def one_after_the_other(*_: Any) -> AsyncIterator[Store]:
            for store in stores:
                yield store

        monkeypatch.setattr(following, "always", one_after_the_other)
        hands, said = Hands(), list[str]()
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
