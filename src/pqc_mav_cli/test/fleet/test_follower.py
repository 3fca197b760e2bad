# SPDX-License-Identifier: Apache-2.0
"""A station does each entry once, whatever the store shows it, and waits if it cannot do it yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.fleet import entry
from pqc_mav_cli.fleet.entry import Order
from pqc_mav_cli.fleet.follower import Follower
from pqc_mav_cli.fleet.identity import Operator, Station

OPERATOR, NORTH = Operator.make(), Station.make()


class Hands:
    """Notes what it is to do; does it unless it is told not to."""

    def __init__(self) -> None:
        self.done: list[tuple[str, int]] = []
        self.why = ""

    def do(self, orders: Sequence[Order]) -> list[str]:
        if self.why:
            raise CliError(self.why)
        self.done += [(order.name, order.revision) for order in orders]
        return ["there"] * len(orders)


def value(revision: int, name: str = "drone.d7", gone: bool = False) -> bytes:
    what = {"settings": None if gone else {}}
    return entry.make(OPERATOR, name, revision, what, {"north": (NORTH.public, {"psk.key": "x"})})


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def follower(tmp_path: Path, said: list[str]) -> Follower:
    return again(tmp_path, said)


def again(folder: Path, said: list[str]) -> Follower:
    return Follower("north", NORTH, OPERATOR.public, folder / "done.json", said.append)


def test_each_revision_is_done_once_and_confirmed(follower: Follower) -> None:
    hands, first = Hands(), value(1)
    follower.take("drone.d7", first)
    assert follower.waiting
    follower.work(hands)
    ((where, receipt),) = follower.receipts
    assert where == "receipt.north.drone.d7"
    assert entry.confirmed(OPERATOR, "north", "drone.d7", 1, receipt) == "there"
    follower.take("drone.d7", first)
    follower.work(hands)
    assert not follower.waiting and len(follower.receipts) == 1
    follower.take("drone.d7", value(2))
    follower.work(hands)
    assert hands.done == [("drone.d7", 1), ("drone.d7", 2)]


def test_an_older_entry_is_refused_counted_and_said_rarely(follower: Follower, said: list[str]) -> None:
    hands = Hands()
    follower.take("drone.d7", value(9))
    follower.work(hands)
    said.clear()
    for _ in range(20):  # each is sealed anew, and so another value
        follower.take("drone.d7", value(3))
    assert not follower.waiting and follower.refused == {"OLD": 20}
    assert said == [
        f"refused drone.d7: it is older than what this station has done already ({n} so far)" for n in (1, 2, 4, 8, 16)
    ]


def test_what_is_done_is_known_after_a_restart(follower: Follower, tmp_path: Path, said: list[str]) -> None:
    newest = value(9)
    follower.take("drone.d7", newest)
    follower.work(Hands())
    said.clear()
    restarted = again(tmp_path, said)
    restarted.take("drone.d7", newest)  # as the store shows everything at the start: confirmed again, and no word
    assert not restarted.waiting and said == []
    ((_, receipt),) = restarted.receipts
    assert entry.confirmed(OPERATOR, "north", "drone.d7", 9, receipt) == "there"
    restarted.take("drone.d7", value(8))
    assert not restarted.waiting and restarted.refused == {"OLD": 1}


def test_what_cannot_be_done_yet_waits_and_gives_way_to_what_is_newer(follower: Follower) -> None:
    hands = Hands()
    hands.why = "No ground station runs here."
    follower.take("drone.d7", value(1))
    with pytest.raises(CliError):
        follower.work(hands)
    follower.take("drone.d7", value(2))
    follower.take("drone.d7", value(1))
    hands.why = ""
    follower.work(hands)
    assert hands.done == [("drone.d7", 2)]


def test_what_a_killed_process_had_begun_is_known_to_the_next_one(
    follower: Follower, tmp_path: Path, said: list[str]
) -> None:
    class Killed:
        def do(self, orders: Sequence[Order]) -> list[str]:
            assert not orders[0].begun
            raise SystemExit

    follower.take("drone.d7", value(1))
    with pytest.raises(SystemExit):
        follower.work(Killed())
    begun: list[bool] = []

    class Next(Hands):
        def do(self, orders: Sequence[Order]) -> list[str]:
            begun.append(orders[0].begun)
            return super().do(orders)

    restarted = again(tmp_path, said)
    for revision in (1, 2):
        restarted.take("drone.d7", value(revision))
        restarted.work(Next())
    assert begun == [True, False]


def test_what_cannot_be_written_down_is_not_confirmed(tmp_path: Path, said: list[str]) -> None:
    folder = tmp_path / "state"
    follower = Follower("north", NORTH, OPERATOR.public, folder / "done.json", said.append)
    hands = Hands()
    follower.take("drone.d7", value(1))
    follower.take("drone.d8", value(2, "drone.d8", gone=True))
    with pytest.raises(CliError, match="cannot be written"):  # there is no such folder
        follower.work(hands)
    assert hands.done == [("drone.d8", 2)], "whoever is to go is out at once"
    assert follower.waiting and follower.receipts == []
    folder.mkdir()
    follower.work(hands)
    assert not follower.waiting and len(follower.receipts) == 2


def test_a_refusal_that_cannot_be_written_down_is_counted_by_a_later_write(tmp_path: Path, said: list[str]) -> None:
    folder = tmp_path / "state"
    follower = Follower("north", NORTH, OPERATOR.public, folder / "done.json", said.append)
    follower.take("drone.d7", b"nonsense")  # there is no such folder
    assert len(said) == 1 and said[0].startswith("refused drone.d7: ")
    folder.mkdir()
    follower.take("drone.d7", value(1))
    follower.work(Hands())
    assert again(folder, said).refused == follower.refused and sum(follower.refused.values()) == 1


def test_a_state_that_is_lost_or_anothers_is_not_taken_for_none(follower: Follower, tmp_path: Path) -> None:
    follower.take("drone.d7", value(1))
    follower.work(Hands())
    file = tmp_path / "done.json"
    with pytest.raises(CliError, match="is of another operator"):
        Follower("north", NORTH, Operator.make().public, file, print)
    file.write_text(file.read_text()[:-20])
    with pytest.raises(CliError, match="cannot be read"):
        again(tmp_path, [])


def test_what_takes_long_is_done_once_and_gives_way_to_a_newer_one(tmp_path: Path, said: list[str]) -> None:
    class Slow(Hands):
        def do(self, orders: Sequence[Order]) -> list[str | Callable[[], str]]:  # type: ignore[override]
            super().do(orders)
            return [self.long if order.families == ("codes",) else "refused: unknown" for order in orders]

        def long(self) -> str:
            return "avoided: codes"

    def avoid(revision: int, family: str) -> None:
        made = entry.make(OPERATOR, "avoid", revision, {"families": [family]}, {"north": (NORTH.public, {})})
        follower.take("avoid", made)

    follower, hands = again(tmp_path, said), Slow()
    avoid(1, "codes")
    ((order, long),) = follower.work(hands)
    assert follower.work(hands) == [] and follower.waiting, "it is under way"
    avoid(2, "nonsense")
    assert follower.work(hands) == []
    follower.finish(order, long())
    assert not follower.waiting and len(follower.receipts) == 1, "the newer one's alone"
    assert entry.confirmed(OPERATOR, "north", "avoid", 2, follower.receipts[0][1]) == "refused: unknown"
    avoid(3, "codes")
    ((order, long),) = follower.work(hands)
    follower.finish(order, "")
    ((order, long),) = follower.work(hands)
    follower.finish(order, long())
    assert not follower.waiting and hands.done == [("avoid", n) for n in (1, 2, 3, 3)]


def test_what_takes_long_is_not_forgotten_by_a_full_disk(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Hands):
        def do(self, orders: Sequence[Order]) -> list[str | Callable[[], str]]:  # type: ignore[override]
            if not self.done:
                monkeypatch.setattr("pqc_mav_cli.fleet.follower.atomic_write", full)
            super().do(orders)
            return ["there" if order.drone_id else lambda: "avoided: codes" for order in orders]

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    follower, hands = again(tmp_path, said), Slow()
    follower.take("avoid", entry.make(OPERATOR, "avoid", 1, {"families": ["codes"]}, {"north": (NORTH.public, {})}))
    follower.take("drone.d7", value(2))
    with pytest.raises(CliError):
        follower.work(hands)
    monkeypatch.undo()
    assert len(follower.work(hands)) == 1
