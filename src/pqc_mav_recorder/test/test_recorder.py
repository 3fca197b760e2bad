# SPDX-License-Identifier: Apache-2.0
"""The recorder's thread: nothing waits for the disk, nothing is lost at the end, and every end is told."""

from __future__ import annotations

import threading
from datetime import datetime, timezone
from pathlib import Path

import pytest
from test_file import TICKS, FullDisk, numbers, tick

from pqc_mav_recorder.file import DiskFile, RecordingError, RecordingFile
from pqc_mav_recorder.recorder import MIB, Recorder, SteadyClock, recording_path


def put_ticks(recorder: Recorder, first: int, last: int) -> None:
    for number in range(first, last):
        recorder.put(TICKS, tick(number), number, number)


def wait_until_ended(recorder: Recorder) -> None:
    assert recorder._ended.wait(20.0)


def test_stop_writes_what_waits(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "flight.mcap", {})
    put_ticks(recorder, 0, 5000)
    assert recorder.stop() == tmp_path / "flight.mcap"
    assert numbers(recorder.path) == list(range(5000))
    assert (recorder.messages, recorder.dropped, recorder.problem) == (5000, 0, "")
    put_ticks(recorder, 0, 2)  # too late: counted, not written
    assert recorder.dropped == 2 and recorder.stop() == recorder.path
    assert len(numbers(recorder.path)) == 5000


def test_what_is_flushed_can_be_read_while_recording_goes_on(tmp_path: Path) -> None:
    flushed = threading.Event()

    class Told(DiskFile):
        def sync(self) -> None:
            super().sync()
            flushed.set()

    path = tmp_path / "flight.mcap"
    recorder = Recorder(path, {}, flush_s=0.02, file=RecordingFile(path, {}, make_file=Told))
    put_ticks(recorder, 0, 10)
    read: list[int] = []
    for _ in range(500):
        flushed.clear()
        assert flushed.wait(20.0)
        read = numbers(path.with_name("flight.mcap.partial"))
        if len(read) == 10:
            break
    assert read == list(range(10))
    recorder.stop()


class HangingDisk(DiskFile):
    """Takes no write between `hang` and `go_on`, like an SD card that collects its garbage."""

    free = threading.Event()

    def write(self, data: bytes) -> int:
        assert self.free.wait(20.0)
        return super().write(data)


def test_a_slow_disk_drops_and_counts_but_nobody_waits(tmp_path: Path) -> None:
    path = tmp_path / "flight.mcap"
    HangingDisk.free.set()
    file = RecordingFile(path, {}, make_file=HangingDisk)
    HangingDisk.free.clear()
    recorder = Recorder(path, {}, flush_s=0.0, queue_limit=100, file=file)
    put_ticks(recorder, 0, 1000)  # returns although the disk hangs
    assert recorder.dropped > 0
    HangingDisk.free.set()
    recorder.stop()
    written = numbers(path)
    assert written == sorted(written) and len(written) + recorder.dropped == 1000


def test_recording_ends_in_good_order_before_the_disk_is_full(tmp_path: Path) -> None:
    free = [100 * MIB]
    recorder = Recorder(tmp_path / "flight.mcap", {}, flush_s=0.01, min_free_mib=50, free_bytes=lambda _: free[0])
    put_ticks(recorder, 0, 10)
    free[0] = 49 * MIB
    wait_until_ended(recorder)
    put_ticks(recorder, 10, 11)
    assert recorder.stop() == recorder.path  # a whole file all the same
    assert numbers(recorder.path) == list(range(10)) and recorder.dropped == 1
    assert "Only 49 MiB are free" in recorder.problem and "50 MiB" in recorder.problem


def test_too_little_room_at_the_start_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="Only 1 MiB"):
        Recorder(tmp_path / "flight.mcap", {}, free_bytes=lambda _: MIB)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_refuses_ends_the_recording_with_a_readable_rest(tmp_path: Path) -> None:
    path = tmp_path / "flight.mcap"
    FullDisk.room = 4000
    recorder = Recorder(path, {}, flush_s=0.0, file=RecordingFile(path, {}, make_file=FullDisk))
    put_ticks(recorder, 0, 2000)
    wait_until_ended(recorder)
    with pytest.raises(RecordingError, match="No space left on device"):
        recorder.stop()
    rest = numbers(tmp_path / "flight.mcap.partial")
    assert rest == list(range(len(rest))) and 0 < len(rest) < 2000


def test_a_fault_in_the_recorder_itself_is_told(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "flight.mcap", {})
    recorder.put(TICKS, tick(0), -1, 0)  # MCAP has no time before 1970
    wait_until_ended(recorder)
    with pytest.raises(RecordingError, match="fault in the recorder"):
        recorder.stop()


def test_time_never_steps_back() -> None:
    wall, monotonic = [1_000_000], [50]
    clock = SteadyClock(lambda: wall[0], lambda: monotonic[0])
    assert clock.now_ns() == 1_000_000
    wall[0], monotonic[0] = 5, 60  # the wall clock is set back
    assert clock.now_ns() == 1_000_010


def test_a_folder_gets_a_file_named_after_the_time() -> None:
    at = datetime(2026, 3, 4, 5, 6, 7, tzinfo=timezone.utc)
    assert recording_path("/data/log", at) == Path("/data/log/flight_20260304T050607Z.mcap")
    assert recording_path("/data/log/mine.mcap", at) == Path("/data/log/mine.mcap")
    assert recording_path("~/x.mcap") == Path.home() / "x.mcap"


def test_what_looks_like_another_kind_of_file_is_no_new_folder(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"give '.*flight.mcap' instead"):
        recording_path(tmp_path / "flight.txt")
    (tmp_path / "flights.2026").mkdir()
    assert recording_path(tmp_path / "flights.2026").parent == tmp_path / "flights.2026"
    assert recording_path(tmp_path / ".hidden").parent == tmp_path / ".hidden"


def test_a_recorder_that_is_started_again_within_a_second_takes_the_next_number(tmp_path: Path) -> None:
    at = datetime(2026, 3, 4, 5, 6, 7, tzinfo=timezone.utc)
    (tmp_path / "flight_20260304T050607Z.mcap.partial").touch()  # killed
    assert recording_path(tmp_path, at).name == "flight_20260304T050607Z-2.mcap"
    (tmp_path / "flight_20260304T050607Z-2.mcap").touch()
    assert recording_path(tmp_path, at).name == "flight_20260304T050607Z-3.mcap"
