# SPDX-License-Identifier: Apache-2.0
"""What counts as being kept out by strangers."""

from __future__ import annotations

from strangers import Connects, Row, cells, problems

SENT = {"false_hellos": 900}


def test_slow_sessions_and_silent_strangers_are_problems() -> None:
    row = Row("crowd", 30)
    assert problems([Connects(row, (0.1, 0.9), SENT, {})], [], []) == []
    assert problems([Connects(row, (0.1, 1.1), SENT, {})], [], []) == [
        "strangers at 256 networks, RTT 30 ms: 1 of 2 sessions within 1 s"
    ]
    assert problems([Connects(row, (0.1, None), SENT, {})], [], [])
    assert problems([Connects(row, (), SENT, {})], [], [])
    assert problems([Connects(row, (0.1,), {}, {})], [], []) == [
        "strangers at 256 networks, RTT 30 ms: they sent nothing"
    ]


def test_a_row_counts_what_was_sent() -> None:
    line = [str(cell) for cell in cells(Connects(Row("neighbour", 100), (0.2,), SENT, {"hs_tag": 880}))]
    assert line == [
        "the drone's own address",
        "100 ms",
        "1/1",
        "0.20",
        "0.20",
        "0.20",
        "900 false hellos",
    ]
