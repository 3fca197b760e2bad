# SPDX-License-Identifier: Apache-2.0
"""History of a day on disk, for those who ask for it: an SQLite file in a private folder, bounded in time and size.

Written in transactions, so a crash or a power cut loses the last minute and nothing else.
"""

import fcntl
import math
import os
import sqlite3
import stat
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pqc_mav_common.errors import ExitCode, ProcessError, one_line
from pqc_mav_dashboard.history import GAP_S, SERIES, Point, append

KEPT_S = 86_400
STEP_S = 10.0  # between two points of a drone
COMMIT_S, TIDY_S = 60.0, 600.0
LARGEST_MIB = 256  # some 280 drones for the whole day; of more the oldest hours go earlier
FULL, FREED = 0.9, 0.1  # beyond this part of the size the oldest so much of the time is let go
SHOWN = 1440  # points of a chart, at most
NAME = "history.sqlite"
VERSION = 1
_INSERT = f"INSERT OR REPLACE INTO point VALUES ({', '.join('?' * (len(SERIES) + 1))})"  # noqa: S608 - marks alone
# How several points become one: what is bad must not vanish in it. The others are those of the newest one.
_WORST = {"loss": max, "peer_loss": max, "rtt_ms": max, "gap_p95_ms": max, "charge": min}


def own_folder(path: Path) -> int:
    """A descriptor of the folder, made if it is not there, and locked. Raises ProcessError for one others can read."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise ProcessError(f"{path} cannot hold a history: {one_line(error)}.", ExitCode.CONFIG) from None
    found = os.fstat(folder)
    wrong = ""
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        wrong = (
            f"{path} is open to other users, and a history is not for them: 'chmod 700 {path}', or name another one."
        )
    else:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            wrong = f"Another dashboard writes its history to {path}; end it or name another folder."
    if wrong:
        os.close(folder)
        raise ProcessError(wrong, ExitCode.CONFIG)
    return folder


class Day:
    """The file. Every call may come from another thread; none is for the server's loop itself."""

    def __init__(self, path: Path, largest_mib: float = LARGEST_MIB) -> None:
        """Opens or begins it. Raises ProcessError."""
        self._folder = own_folder(path)
        self._path = path / NAME
        self._largest = int(largest_mib * (1 << 20))
        self._lock = threading.Lock()
        self._committed_s = self._tidied_s = self._added_s = -math.inf
        self.problem = ""
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            try:
                self._file = self._opened()
            except sqlite3.OperationalError:  # a full disk or a lock says nothing against the file
                raise
            except sqlite3.DatabaseError:  # broken, or of another version: it is kept once, and a new one begun
                self._path.replace(self._path.with_suffix(".old"))
                self._file = self._opened()
        except (OSError, sqlite3.Error) as error:
            os.close(self._folder)
            raise ProcessError(f"{self._path} cannot be written: {one_line(error)}.", ExitCode.FAILED) from None

    def _opened(self) -> sqlite3.Connection:
        made = sqlite3.connect(self._path, check_same_thread=False, isolation_level="IMMEDIATE")
        try:
            (version,) = made.execute("PRAGMA user_version").fetchone()
            if version not in (0, VERSION):
                raise sqlite3.DatabaseError("of another version")
            columns = ", ".join(f"{name} REAL" for name in SERIES)
            made.execute(
                f"CREATE TABLE IF NOT EXISTS point (drone TEXT, {columns}, PRIMARY KEY (drone, time_s)) WITHOUT ROWID"
            )
            if not version:  # else nothing is written, and a full disk can still be read
                made.execute(f"PRAGMA user_version = {VERSION}")
            (page,) = made.execute("PRAGMA page_size").fetchone()
            made.execute(f"PRAGMA max_page_count = {max(64, self._largest // page)}")
            made.execute("SELECT count(*) FROM (SELECT 1 FROM point LIMIT 1)").fetchone()
            made.commit()
        except sqlite3.Error:
            made.close()
            raise
        return made

    def add(self, time_s: float, points: Mapping[str, Point]) -> None:
        """One point of each drone. What goes wrong is a note for the page (`problem`), never an exception."""
        with self._lock:
            stepped = not 0.0 <= time_s - self._added_s < TIDY_S
            self._added_s = time_s
            try:
                rows = ((drone, *made) for drone, made in points.items())
                self._file.executemany(_INSERT, rows)
                if not 0.0 <= time_s - self._tidied_s < TIDY_S or self._used() > FULL:
                    self._tidied_s = time_s
                    # What a clock says that has just stepped is no reason to let anything go.
                    self._tidy(time_s, -math.inf if stepped else time_s - KEPT_S)
                if not 0.0 <= time_s - self._committed_s < COMMIT_S:
                    self._committed_s = time_s
                    self._file.commit()
                self.problem = ""
            except sqlite3.Error as error:
                self._file.rollback()
                self.problem = f"The history in {self._path.parent} is not written: {one_line(error)}"

    def _used(self) -> float:
        """Part of the largest size that holds points."""
        pages, free, size = (
            self._file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return float((pages - free) * size / self._largest)

    def _tidy(self, time_s: float, until_s: float) -> None:
        """Lets go what is older, or would not fit. The future stays: a clock may be wrong for a while."""
        if self._used() > FULL:
            first_s = self._file.execute("SELECT min(time_s) FROM point").fetchone()[0]
            until_s = max(until_s, first_s + max(STEP_S, FREED * (time_s - first_s)))
        self._file.execute("DELETE FROM point WHERE time_s < ?", (until_s,))

    def of(self, drone: str, since_s: float, until_s: float) -> list[Point]:
        """Oldest first, with gaps; at most SHOWN and those, each the worst of its stretch."""
        with self._lock:
            try:
                rows = self._file.execute(
                    "SELECT * FROM point WHERE drone = ? AND time_s >= ? AND time_s < ? ORDER BY time_s",
                    (drone, since_s, until_s),
                ).fetchall()
            except sqlite3.Error:
                return []
        width_s = max(STEP_S, (until_s - since_s) / SHOWN)
        points: list[Point] = []
        for stretch in _stretches([list(row[1:]) for row in rows], width_s):
            append(points, stretch, max(GAP_S, 3 * width_s))
        return points

    def close(self) -> None:
        """Writes what is left and lets the folder go."""
        with self._lock:
            with suppress(sqlite3.Error):  # it was said already
                self._file.commit()
            self._file.close()
            os.close(self._folder)


def _stretches(points: list[Point], width_s: float) -> list[Point]:
    """One point for each stretch of time."""
    found: list[Point] = []
    at = -1
    for made in points:
        stretch = int((made[0] or 0.0) // width_s)
        if stretch != at:
            at = stretch
            found.append(list(made))
            continue
        held = found[-1]
        for index, name in enumerate(SERIES):
            known = [each for each in (held[index], made[index]) if each is not None]
            held[index] = _WORST[name](known) if name in _WORST and known else made[index]
    return found
