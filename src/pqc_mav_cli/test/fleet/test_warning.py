# SPDX-License-Identifier: Apache-2.0
"""A station's word counts once, soon, and if a station of the fleet has said it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pqc_mav_cli.fleet.warning import Ear, Warned, told

KEY, NOW = bytes(32), 1_800_000_000_000
FLOOD, CALM = Warned(2, "flood"), Warned(0, "")


def heard(value: bytes, gcs_id: str = "north", key: bytes = KEY, now_ms: int = NOW) -> Warned | None:
    return Ear("south").take(key, gcs_id, value, now_ms)


def test_a_word_counts_once_and_the_next_one_too() -> None:
    ear = Ear("south")
    first = told(KEY, "north", NOW, FLOOD)
    assert ear.take(KEY, "north", first, NOW + 200) == FLOOD
    assert ear.take(KEY, "north", first, NOW + 300) is None, "the store shows it again"
    assert ear.take(KEY, "north", told(KEY, "north", NOW + 3000, CALM), NOW + 3000) == CALM
    assert ear.take(KEY, "north", first, NOW + 3000) is None
    assert ear.take(KEY, "west", told(KEY, "west", NOW, FLOOD), NOW) == FLOOD, "another station's clock"


@pytest.mark.parametrize(
    "how",
    [
        {"gcs_id": "west"}, {"gcs_id": "south"}, {"key": b""}, {"key": b"\1" * 32},
        {"now_ms": NOW + 16_000}, {"now_ms": NOW - 16_000},
    ],
)  # fmt: skip
def test_a_word_of_another_station_key_or_time_does_not_count(how: dict[str, Any]) -> None:
    assert heard(told(KEY, "north", NOW, FLOOD)) == FLOOD
    assert heard(told(KEY, "north", NOW, FLOOD), **how) is None


def test_no_altered_word_counts() -> None:
    good = json.loads(told(KEY, "north", NOW, FLOOD))
    for change in ({"level": 0}, {"kind": "replay"}, {"at": NOW + 1}, {"mac": "é"}, {"level": True}, {"at": "now"}):
        assert heard(json.dumps(good | change).encode()) is None
    for junk in (b"", b"{}", b"\xff", b"[" * 900, json.dumps(good | {"more": "x" * 1024}).encode()):
        assert heard(junk) is None
