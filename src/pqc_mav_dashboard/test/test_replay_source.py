# SPDX-License-Identifier: Apache-2.0
"""A recording as a source: what was known at each moment, and nothing of what came later."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from flight import BEGIN_S, LENGTH_S, REKEY_S, STRONGER, SUITE, record

from pqc_mav_common.errors import ProcessError
from pqc_mav_dashboard.errors import RefusalError
from pqc_mav_dashboard.picture import Picture
from pqc_mav_dashboard.replay_source import Player, Recording, ReplaySource, load
from pqc_mav_dashboard.views import Rows, drone_view


@pytest.fixture(scope="module")
def flight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("flight") / "flight.mcap")


@pytest.fixture
def recording(flight: Path) -> Recording:
    return Recording(flight)


class Clock:
    """Monotonic time that stands still."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def at(player: Player, second: float) -> Picture:
    player.seek(BEGIN_S + second)
    return player.picture()


def test_a_moment_knows_nothing_of_what_came_later(recording: Recording) -> None:
    player = Player(recording)
    before = drone_view("d1", at(player, REKEY_S - 1))
    assert before["ends"][0]["status"]["suite"] == SUITE and len(player.topics.handshakes("d1")) == 1
    after = drone_view("d1", at(player, REKEY_S))
    assert after["ends"][0]["status"]["suite"] == STRONGER and len(player.topics.handshakes("d1")) == 2
    again = drone_view("d1", at(player, REKEY_S - 1))
    assert again == before


def test_seek_and_play_come_to_the_same(recording: Recording) -> None:
    sought, played, fast = Player(recording), Player(recording), Player(recording)
    sought.seek(BEGIN_S + 100)
    while played.picture().time_s < BEGIN_S + 100:
        played.advance(played.picture().time_s + 1)
    for second in (60, 100):
        fast.advance(BEGIN_S + second)
    assert fast.points == played.points, "the charts of a recording that is played fast have every second"
    assert drone_view("d1", sought.picture()) == drone_view("d1", played.picture())
    assert sought.points == played.points and len(sought.points["d1"]) == 101
    assert sought.log.after(0)[1] == played.log.after(0)[1]


def test_what_is_not_known_is_none(recording: Recording) -> None:
    view = drone_view("d1", at(Player(recording), 5))
    assert view["ends"][0]["link"]["rtt_ms"] is None, "NaN in the message"
    assert view["senses"]["battery"]["fields"]["current_a"] is None
    assert "absent" in view["senses"]["thermal"] and "absent" in view["senses"]["power"]


def test_keys_age_while_the_status_is_latched(recording: Recording) -> None:
    picture = at(Player(recording), 40)
    row = Rows().of(picture)["d1"]
    assert row[6] == pytest.approx(BEGIN_S, abs=0.1)
    assert row[3] == "UP", "figures came a moment ago, though the status is old"


def test_a_clock_that_was_behind_makes_nothing_silent_or_old(tmp_path: Path) -> None:
    picture = at(Player(Recording(record(tmp_path / "late.mcap", 12, late_s=60.0))), 10)
    assert [end.silent_s(picture.clock_s) for end in picture.ends] == [None, None]
    assert drone_view("d1", picture)["senses"]["battery"]["age_s"] == 0.0


def test_troubles_of_the_flight(recording: Recording) -> None:
    player = Player(recording)
    words = {second: Rows().of(at(player, second))["d1"][1:3] for second in (50, 95, 110)}
    assert words[50][0] == 0
    assert words[95][0] == 7 and "replay" in words[95][1]
    assert words[110][0] == 7
    texts = [event.get("text", "") for event in player.log.after(0)[1]]
    assert any("threat: attack replay" in text for text in texts) and any("flight: cruise, armed" in t for t in texts)


def test_time_goes_on_only_while_somebody_looks(recording: Recording) -> None:
    clock = Clock()
    source = ReplaySource(recording, clock)

    async def scene() -> None:
        await source.start()
        clock.now_s = 10
        assert (await source.picture(frozenset(), whole=True)).time_s == BEGIN_S + 10
        await source.stop()
        clock.now_s = 1000
        await source.start()
        clock.now_s = 1001
        assert (await source.picture(frozenset(), whole=True)).time_s == BEGIN_S + 11
        source.steer("pause", 0)
        clock.now_s = 1100
        assert (await source.picture(frozenset(), whole=True)).time_s == BEGIN_S + 11
        source.steer("speed", 10)
        source.steer("play", 0)
        clock.now_s = 1102
        assert (await source.picture(frozenset(), whole=True)).time_s == BEGIN_S + 31
        source.steer("seek", 3)
        assert (await source.picture(frozenset(), whole=True)).time_s == BEGIN_S + 3
        clock.now_s = 2000
        assert (await source.picture(frozenset(), whole=True)).time_s == BEGIN_S + LENGTH_S
        assert not source.replay()["playing"]
        source.steer("play", 0)
        assert (await source.picture(frozenset(), whole=True)).time_s == BEGIN_S, "from the begin, once it is over"

    asyncio.run(scene())


@pytest.mark.parametrize(("what", "value"), [("dance", 0), ("speed", 0), ("speed", 1e9), ("seek", float("nan"))])
def test_steering_that_makes_no_sense(recording: Recording, what: str, value: float) -> None:
    with pytest.raises(RefusalError, match="play, pause, seek"):
        ReplaySource(recording).steer(what, value)


def test_nothing_can_be_done_to_a_flight_that_is_over(recording: Recording) -> None:
    source = ReplaySource(recording)
    assert set(source.actions("d1", Picture(0, 0)).values()) == {"This is a recording: nothing can be steered."}
    with pytest.raises(RefusalError, match="recording"):
        asyncio.run(source.act("rekey", "d1", {}))


def test_what_is_no_recording(tmp_path: Path, flight: Path) -> None:
    with pytest.raises(ProcessError, match="Cannot read"):
        load(tmp_path / "none.mcap")
    other = tmp_path / "text.mcap"
    other.write_text("no recording")
    with pytest.raises(ProcessError, match="is not an MCAP recording"):
        load(other)


def test_an_unfinished_recording_is_shown_up_to_its_end(tmp_path: Path, flight: Path) -> None:
    cut = tmp_path / "cut.mcap"
    content = flight.read_bytes()
    cut.write_bytes(content[: len(content) * 2 // 3])
    try:
        source = load(cut)
    except ProcessError as error:  # one chunk, and it is broken
        assert "holds no topics" in str(error)
        return
    replay: Any = source.replay()
    assert "was not finished" in replay["problem"]


def test_a_recording_larger_than_memory_is_cut_and_says_so(flight: Path) -> None:
    recording = Recording(flight, largest_mib=0.02)
    assert "Only the first 0.02 MiB" in recording.problem
    assert recording.end_s < BEGIN_S + LENGTH_S
