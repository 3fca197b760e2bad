# SPDX-License-Identifier: Apache-2.0
"""What a station says of its drones: the operator reads it, and nobody else; an old one is known by its time."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from pqc_mav_cli.fleet import entry, view
from pqc_mav_cli.fleet.identity import Operator
from pqc_mav_cli.fleet.view import Key, View

OPERATOR = Operator.make()
NAME, REVISION = "drone.d7", 5
KEY = Key.of(NAME, REVISION, entry.receipt_key(OPERATOR, "north", NAME, REVISION))
TUNNEL = {"drone_id": "d7", "state": "UP", "suite": "cs-mlkem768-aesgcm-mldsa65", "station_role": "active",
          "silence_s": 0, "peer": "192.0.2.1:9"}  # fmt: skip
ROW = view.row_of(TUNNEL)


def printed(
    views: dict[str, View | None], drones: list[str], now_ms: int = 1_000_000
) -> tuple[list[list[str]], list[str]]:
    found, wrong = view.table(views, drones, now_ms)
    out = Console(width=80)
    with out.capture() as captured:
        out.print(found)
    return [line.split() for line in captured.get().splitlines()[1:]], wrong


def test_the_operator_alone_reads_it() -> None:
    value = view.sealed(KEY, "north", 7, [ROW])
    assert view.opened(OPERATOR, "north", value) == View(7, [ROW])
    assert b"mlkem" not in value
    assert "peer" not in ROW, "where drones are is not told"
    assert view.opened(OPERATOR, "south", value) is None
    assert view.opened(Operator.make(), "north", value) is None
    for changed in (value[:-9], value.replace(b'"revision": 5', b'"revision": 6'), b"{}", b"\xff", b"[" * 9_999):
        assert view.opened(OPERATOR, "north", changed) is None


@pytest.mark.parametrize(
    "bad", [{"state": 1}, {"drone": "a\x1b[2J"}, {"suite": "x" * 65}, {"silence_s": "0"}, {"role": None}]
)
def test_a_row_of_another_form_is_no_view(bad: dict[str, Any]) -> None:
    assert view.opened(OPERATOR, "north", view.sealed(KEY, "north", 7, [ROW | bad])) is None


def test_what_unpacks_to_far_more_than_it_may_is_no_view() -> None:
    value = view.sealed(KEY, "north", 7, [ROW | {"more": "x" * (80 << 20)}])
    assert len(value) < view.LARGEST
    assert view.opened(OPERATOR, "north", value) is None


def test_too_many_drones_for_the_store_are_left_out() -> None:
    import random

    chance = random.Random(1)
    rows = [ROW | {"drone": f"{chance.getrandbits(128):032x}", "silence_s": chance.random()} for _ in range(20_000)]
    value = view.sealed(KEY, "north", 7, rows)
    assert len(value) < view.LARGEST
    assert view.opened(OPERATOR, "north", value) == View(7, [])


def test_each_drone_has_a_line_for_each_station_with_a_session() -> None:
    standby = ROW | {"role": "standby", "silence_s": 2.5}
    down = ROW | {"drone": "d8", "state": "DOWN", "suite": ""}
    lines, wrong = printed({"north": View(999_000, [ROW, down]), "south": View(999_000, [standby, down])}, ["d7", "d8"])
    assert lines == [
        ["d7", "north", "UP", "ML-768-AG-MD-65", "0.0", "s"],
        ["d7", "south", "UP", "standby", "ML-768-AG-MD-65", "2.5", "s"],
        ["d8", "-", "DOWN", "-", "-"],
    ]
    assert wrong == ["1 drone without a session: d8."]


def test_a_silent_station_and_an_old_view_are_said() -> None:
    _, wrong = printed({"north": View(1_000_000 - 16_000, [ROW]), "south": None}, ["d7"])
    assert wrong == ["north said this 16 s ago, by its clock.", "south has said nothing yet."]
    assert printed({"north": View(1_000_000 - 15_000, [ROW])}, ["d7"])[1] == []
