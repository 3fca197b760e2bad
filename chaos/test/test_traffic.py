# SPDX-License-Identifier: Apache-2.0
"""The traffic process against plain sockets: counts what came, what was spoiled and what was somebody else's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import courses
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
    end = Endpoint(None, 0, 0, ("", 0), 25.0, 100.0, 800)  # type: ignore[arg-type]
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


def test_both_ways_are_counted_by_stream(pair: list[End]) -> None:
    """Numbered, without a gap, and none comes back to its sender."""
    traffic = TrafficProcess(pair)
    assert flowing(traffic, 100)
    counts = traffic.stop()
    streams = {(each["drone"], each["way"]): each for each in counts["streams"]}
    assert set(streams) == {(7, messages.DOWN), (7, messages.UP)}
    for each in streams.values():
        assert each["sent"] == each["received"] >= 40
        assert each["duplicates"] == each["reordered"] == each["send_errors"] == each["kernel_dropped"] == 0
        assert each["longest_gap_ns"] < each["last_ns"]
    assert counts["corrupted"] == counts["misdelivered"] == counts["send_errors"] == 0


def test_what_did_not_arrive_is_missing(pair: list[End]) -> None:
    deaf = application_socket()
    try:
        ends = [replace(pair[0], to_port=deaf.getsockname()[1]), pair[1]]
        traffic = TrafficProcess(ends)
        assert flowing(traffic, 20)
        counts = traffic.stop()
    finally:
        deaf.close()
    down, up = sorted(counts["streams"], key=lambda each: each["way"])
    assert down["sent"] >= 20 and down["received"] == 0
    assert up["sent"] == up["received"] >= 20


def test_foreign_spoiled_and_doubled_messages_are_told_apart(pair: list[End]) -> None:
    traffic = TrafficProcess(pair, sizes=[60])
    stranger = application_socket()
    to = ("127.0.0.1", pair[0].to_port)  # where the messages of the way down arrive
    try:
        for drone, way, size in ((8, messages.DOWN, 60), (7, messages.UP, 60), (7, messages.DOWN, 61)):
            stranger.sendto(messages.encode(drone, way, 5, 1, size), to)
        stranger.sendto(b"garbage", to)
        spoiled = bytearray(messages.encode(7, messages.DOWN, 6, 1, 60))
        spoiled[40] ^= 1
        stranger.sendto(spoiled, to)
        doubled = messages.encode(7, messages.DOWN, 0, 1, 60)
        assert flowing(traffic, 20)
        stranger.sendto(doubled, to)
        assert wait_until(lambda: total(traffic.snapshot(), "duplicates") == 1, 10)
        counts = traffic.stop()
    finally:
        stranger.close()
        traffic.close()
    assert counts["misdelivered"] == 2
    assert counts["corrupted"] == 3


def test_a_recorded_flight_is_sent_again_and_again(pair: list[End], tmp_path: Path) -> None:
    flight = tmp_path / "flight.csv.gz"
    courses.write(flight, [(9.0, 0, 60), (9.02, 0, 5), (9.03, 1, 40), (9.05, 0, 90)])
    down = courses.read(flight, messages.DOWN)
    assert (down.span_s, list(down.sizes)) == (0.05, [60, messages.LEAST_SIZE, 90])
    end = Endpoint(None, 0, 0, ("", 0), 25.0, 100.0, course=down)  # type: ignore[arg-type]
    due = []
    for end.number in range(6):
        due.append(round(end.due - 100.0, 3))
    assert due == [0.0, 0.02, 0.05, 0.05, 0.07, 0.1]
    traffic = TrafficProcess([replace(each, course=str(flight)) for each in pair])
    assert flowing(traffic, 30)
    counts = traffic.stop()
    assert total(counts, "sent") == total(counts, "received") > 0 == counts["corrupted"]


@pytest.mark.parametrize("autopilot", ["ardupilot", "px4"])
def test_what_is_on_record_of_a_real_autopilot_goes_both_ways(autopilot: str) -> None:
    for way in (messages.DOWN, messages.UP):
        course = courses.read(courses.file_of(autopilot), way)
        assert course.span_s > 60 and len(course.times_s) == len(course.sizes) > 60
        assert list(course.times_s) == sorted(course.times_s) and course.times_s[-1] <= course.span_s
