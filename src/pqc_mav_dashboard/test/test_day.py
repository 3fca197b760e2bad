# SPDX-License-Identifier: Apache-2.0
"""History on disk: nobody else's, bounded, whole after a crash, and with its gaps."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from pqc_mav_common.errors import ProcessError
from pqc_mav_dashboard.day import KEPT_S, NAME, STEP_S, Day
from pqc_mav_dashboard.history import SERIES, Point, empty

NOW_S = 1_800_000_000.0


def point(time_s: float, **figures: float) -> Point:
    return [time_s, *(figures.get(name) for name in SERIES[1:])]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "own" / "history"


@pytest.fixture
def day(folder: Path) -> Iterator[Day]:
    made = Day(folder)
    yield made
    made.close()


def fill(day: Day, begin_s: float, end_s: float, drones: int = 1) -> None:
    time_s = begin_s
    while time_s < end_s:
        made = point(time_s, **dict.fromkeys(SERIES[1:], 20.1))
        day.add(time_s, {f"d{number}": made for number in range(drones)})
        time_s += STEP_S


def test_it_is_nobody_elses(folder: Path, day: Day) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600
    with pytest.raises(ProcessError, match="Another dashboard"):
        Day(folder)


def test_a_folder_of_others_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(ProcessError, match="open to other users"):
        Day(tmp_path)
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(real)
    with pytest.raises(ProcessError, match="cannot hold a history"):
        Day(tmp_path / "link")
    (real / NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ProcessError, match="cannot be written"):
        Day(real)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, 54321, 54321)
    with pytest.raises(ProcessError, match="open to other users"):
        Day(theirs)


def test_it_is_there_after_a_restart(folder: Path) -> None:
    day = Day(folder)
    fill(day, NOW_S, NOW_S + 100)
    day.close()
    again = Day(folder)
    found = again.of("d0", NOW_S, NOW_S + 100)
    assert [each[0] for each in found] == [NOW_S + 10 * index for index in range(10)] and found[0][5] == 20.1
    assert again.of("d1", NOW_S, NOW_S + 100) == []
    again.close()


def test_a_day_is_kept_and_no_more(day: Day) -> None:
    for hour in range(27):
        fill(day, NOW_S + 3600 * hour, NOW_S + 3600 * hour + 30)
    fill(day, NOW_S + 27 * 3600, NOW_S + 27 * 3600 + 700)
    found = day.of("d0", NOW_S - KEPT_S, NOW_S + 28 * 3600)
    assert found[0][0] is not None and found[0][0] >= NOW_S + 3 * 3600


def test_a_large_fleet_keeps_less_than_a_day_and_stays_within_its_size(folder: Path) -> None:
    day = Day(folder, largest_mib=1.0)
    fill(day, NOW_S, NOW_S + 4000, drones=40)
    assert day.problem == ""
    found = day.of("d0", NOW_S, NOW_S + 4000)
    day.close()
    assert sum(each.stat().st_size for each in folder.iterdir()) <= 1 << 20
    assert found[-1][0] == NOW_S + 3990 and (found[0][0] or 0) > NOW_S + 100, "the newest, not the oldest"


def test_a_stretch_shows_the_worst_of_it_and_a_gap_stays_one(day: Day) -> None:
    fill(day, NOW_S - KEPT_S, NOW_S - 40_000)
    day.add(NOW_S - 60_005, {"d0": point(NOW_S - 60_005, loss=50.5, charge=0.1)})
    fill(day, NOW_S - 20_000, NOW_S)
    found = day.of("d0", NOW_S - KEPT_S, NOW_S)
    calm = [each[0] for each in found if (each[0] or 0) < NOW_S - 60_100]
    assert {after - before for before, after in pairwise(calm)} == {60.0}, "1440 points of a day"
    assert 50.5 in [each[3] for each in found], "a peak does not vanish"
    gaps = [each for each in found if each == empty(each[0] or 0)]
    assert len(gaps) == 1 and -40_100 < (gaps[0][0] or 0) - NOW_S < -39_900


def test_a_clock_that_begins_in_1970_forgets_nothing(folder: Path) -> None:
    day = Day(folder)
    fill(day, NOW_S, NOW_S + 50)
    day.close()
    day = Day(folder)
    fill(day, 100.0, 900.0)
    fill(day, NOW_S + 50, NOW_S + 100)
    assert len(day.of("d0", NOW_S, NOW_S + 100)) == 10
    day.close()


def test_a_clock_that_is_days_ahead_for_a_moment_forgets_nothing(folder: Path) -> None:
    for _ in range(2):  # also at the start
        day = Day(folder)
        fill(day, NOW_S + 3 * KEPT_S, NOW_S + 3 * KEPT_S + 50)
        fill(day, NOW_S, NOW_S + 100)
        fill(day, NOW_S + 3 * KEPT_S, NOW_S + 3 * KEPT_S + 50)
        assert len(day.of("d0", NOW_S, NOW_S + 100)) == 10
        day.close()


def test_a_broken_file_is_put_aside(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o700)
    (folder / NAME).write_bytes(b"no database at all" * 100)
    day = Day(folder)
    fill(day, NOW_S, NOW_S + 50)
    assert len(day.of("d0", NOW_S, NOW_S + 50)) == 5 and (folder / "history.old").exists()
    day.close()


@pytest.mark.parametrize(("begin", "opens"), [("BEGIN", True), ("BEGIN EXCLUSIVE", False)])
def test_a_file_that_another_process_holds_is_not_put_aside(
    folder: Path, begin: str, opens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = Day(folder)
    fill(day, NOW_S, NOW_S + 50)
    day.close()
    monkeypatch.setattr("pqc_mav_dashboard.day.sqlite3.connect", partial(sqlite3.connect, timeout=0))
    with closing(sqlite3.connect(folder / NAME, isolation_level=None)) as held:
        held.execute(begin)
        held.execute("SELECT count(*) FROM point").fetchone()
        if not opens:
            with pytest.raises(ProcessError, match="locked"):
                Day(folder)
            held.execute("ROLLBACK")
        day = Day(folder)
        assert len(day.of("d0", NOW_S, NOW_S + 50)) == 5 and not (folder / "history.old").exists()
        day.close()


KILLED = """
import os, sys
from pathlib import Path
from pqc_mav_dashboard.day import Day
from pqc_mav_dashboard.history import SERIES
day = Day(Path(sys.argv[1]))
for step in range(1000):
    time_s = 1_800_000_000.0 + 10 * step
    day.add(time_s, {f"d{n}": [time_s, *[1.0] * (len(SERIES) - 1)] for n in range(20)})
    if step == 600:
        print("go", flush=True)
"""


def test_a_process_that_is_killed_leaves_a_whole_file(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"go\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    day = Day(folder)
    found = {drone: len(day.of(drone, NOW_S, NOW_S + 10_000)) for drone in ("d0", "d19")}
    assert found["d0"] == found["d19"] >= 595, "all of a moment or nothing, and at most the last minute is missing"
    day.close()
