# SPDX-License-Identifier: Apache-2.0
"""The traffic process against plain sockets: counts what came, what was spoiled and what was somebody else's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import messages
import pytest
from traffic import End, TrafficProcess, application_socket, total
from traffic_host import Endpoint

from pqc_mav_common.waiting import wait_until


@pytest.fixture
def pair() -> Iterator[list[End]]:
    """Two ends that send straight to each other."""
    down, up = application_socket(), application_socket()
    yield [
        End(down, 7, messages.DOWN, up.getsockname()[1], 200.0),
        End(up, 7, messages.UP, down.getsockname()[1], 200.0),
    ]
    down.close()
    up.close()


def flowing(traffic: TrafficProcess, count: int) -> bool:
    return wait_until(lambda: total(traffic.snapshot(), "received") >= count, 10)


def test_a_burst_comes_at_the_beginning_of_each_turn() -> None:
    end = Endpoint(None, 0, 0, ("", 0), 25.0, 100.0, 800, 10.0)  # type: ignore[arg-type]
    due = []
    for end.number in range(2000):
        due.append(end.due)
    assert due == sorted(due) and due[0] == 100.0
    assert sum(each < 102.0 for each in due) == 800
    assert sum(100.0 <= each < 110.0 for each in due) == sum(110.0 <= each < 120.0 for each in due) == 1000


def test_everything_arrives_once_and_is_logged(pair: list[End], tmp_path: Path) -> None:
    traffic = TrafficProcess(pair, tmp_path / "log")
    assert flowing(traffic, 100)
    counts = traffic.stop()
    assert total(counts, "sent") == total(counts, "received") == len(traffic.arrivals())
    assert total(counts, "duplicates") == counts["corrupted"] == counts["misdelivered"] == 0
    assert {(a.drone, a.way) for a in traffic.arrivals()} == {(7, messages.DOWN), (7, messages.UP)}
    assert all(a.sent_ns <= a.arrived_ns for a in traffic.arrivals())


def test_foreign_spoiled_and_doubled_messages_are_told_apart(pair: list[End]) -> None:
    traffic = TrafficProcess(pair, sizes=[60])
    stranger = application_socket()
    to = ("127.0.0.1", pair[0].to_port)  # where the messages of the way down arrive
    try:
        for drone, way, size in ((8, messages.DOWN, 60), (7, messages.UP, 60), (7, messages.DOWN, 61)):
            stranger.sendto(messages.encode(drone, way, 5, 1, size), to)
        stranger.sendto(b"garbage", to)
        doubled = messages.encode(7, messages.DOWN, 0, 1, 60)
        assert flowing(traffic, 20)
        stranger.sendto(doubled, to)
        assert wait_until(lambda: total(traffic.snapshot(), "duplicates") == 1, 10)
        counts = traffic.stop()
    finally:
        stranger.close()
        traffic.close()
    assert counts["misdelivered"] == 2
    assert counts["corrupted"] == 2
