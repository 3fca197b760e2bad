# SPDX-License-Identifier: Apache-2.0
"""What a station says of its drones: the operator reads it, and nobody else; an old one is known by its time."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest

from pqc_mav_cli.fleet import entry, view
from pqc_mav_cli.fleet.identity import Operator
from pqc_mav_cli.fleet.view import Key, View

OPERATOR = Operator.make()
NAME, REVISION = "drone.d7", 5
KEY = Key(NAME, REVISION, entry.receipt_key(OPERATOR, "north", NAME, REVISION))
STATUS = {"drone_id": "d7", "state": "UP", "suite": "cs-mlkem768-aesgcm-mldsa65", "station_role": "active",
          "silence_s": 0, "peer": "192.0.2.1:9", "plain_local": "127.0.0.1:1", "last_error": "a\x1b[2J"}  # fmt: skip
LINK = {"rtt_ms": None, "rtt_min_ms": 3.5, "local": {"loss": 0.25, "drops": {}}, "peer": None}
STATS = {"tx_bytes_per_s": 9.5, "drop_replay": 2, "drop_malformed": 0, "keygens": 1}
ROW = view.row_of(STATUS, STATS, LINK)
EVENT = view.event_of({"event": "state", "time": 5.5, "drone_id": "d7", "old": "DOWN", "new": "UP", "picture": {}})


def told(*rows: dict[str, Any], events: Sequence[Any] = ()) -> View:
    return View(7, list(rows), "b", events)


def test_the_operator_alone_reads_it() -> None:
    value = view.sealed(KEY, "north", told(ROW, events=[(4, EVENT)]))
    assert view.opened(OPERATOR, "north", value) == View(7, [ROW], "b", [(4, EVENT)])
    assert b"mlkem" not in value
    assert view.opened(OPERATOR, "south", value) is None
    assert view.opened(Operator.make(), "north", value) is None
    for changed in (value[:-9], value.replace(b'"revision": 5', b'"revision": 6'), b"{}", b"\xff", b"[" * 9_999):
        assert view.opened(OPERATOR, "north", changed) is None


def test_only_what_the_operator_needs_is_told() -> None:
    assert ROW == {
        "drone": "d7",
        "status": {"state": "UP", "suite": "cs-mlkem768-aesgcm-mldsa65", "station_role": "active", "silence_s": 0,
                   "last_error": "a?[2J"},
        "stats": {"tx_bytes_per_s": 9.5, "drop_replay": 2},
        "link": {"rtt_min_ms": 3.5, "local": {"loss": 0.25}, "peer": {}},
    }, "neither where the drone is nor its application"  # fmt: skip
    assert EVENT == {"event": "state", "time": 5.5, "drone_id": "d7", "old": "DOWN", "new": "UP"}


@pytest.mark.parametrize(
    "bad",
    [
        {"drone": "a\x1b[2J"}, {"drone": None}, {"status": 1}, {"status": {"suite": "x" * 301}}, {"status": None},
        {"status": {"silence_s": "0"}}, {"stats": [["drop_replay", 1]]}, {"stats": {"tx_bytes_per_s": math.nan}},
        {"link": {"rtt_ms": 1 << 63}}, {"link": {"local": {"loss": [1]}}}, {"link": {"peer": None}},
    ],
)  # fmt: skip
def test_a_row_of_another_form_is_no_view(bad: dict[str, Any]) -> None:
    assert view.opened(OPERATOR, "north", view.sealed(KEY, "north", told(ROW | bad))) is None


@pytest.mark.parametrize("bad", [1, [1], ["1", EVENT], [1, 1], [1, {"time": "now"}], [1, {"text": 1}], [1, {"ok": []}]])
def test_an_event_of_another_form_is_no_view(bad: Any) -> None:
    assert view.opened(OPERATOR, "north", view.sealed(KEY, "north", told(events=[bad]))) is None


def test_what_a_newer_station_adds_is_left_out() -> None:
    newer = {**ROW, "status": {**ROW["status"], "more": [math.nan]}, "more": {}}
    value = view.sealed(KEY, "north", told(newer, events=[(4, {**EVENT, "more": {}})]))
    assert view.opened(OPERATOR, "north", value) == told(ROW, events=[(4, EVENT)])


def test_what_unpacks_to_far_more_than_it_may_is_no_view() -> None:
    value = view.sealed(KEY, "north", told(ROW | {"more": "x" * (80 << 20)}))
    assert len(value) < view.LARGEST
    assert view.opened(OPERATOR, "north", value) is None


def test_too_many_drones_for_the_store_lose_figures_first() -> None:
    chance = random.Random(1)

    def many(count: int, longest: int) -> View:
        names = (f"{chance.getrandbits(4 * longest):0{longest}x}" for _ in range(count))
        return told(*({**ROW, "drone": name, "stats": {"tx_bytes_per_s": chance.random()}} for name in names))

    for view_, kept, figures in (
        (many(2_000, 8), 2_000, True),
        (many(30_000, 8), 30_000, False),
        (many(30_000, 64), 0, False),
    ):
        value = view.sealed(KEY, "north", view_)
        assert len(value) < view.LARGEST
        found = view.opened(OPERATOR, "north", value)
        assert found is not None and len(found.rows) == kept
        assert all(bool(row["stats"]) == figures for row in found.rows)
