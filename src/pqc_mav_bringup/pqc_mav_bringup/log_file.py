# SPDX-License-Identifier: Apache-2.0
"""The file in which `pqcmav up` keeps what its processes say, for `pqcmav logs`: bounded, private, never in the way."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "PQCMAV_LOG_DIR"  # another folder; empty = keep nothing
FOLDER = "~/.pqcmav/log"
SUFFIX = ".log"
OLDER = ".1"
LIMIT_BYTES = 4 << 20  # of one file; one older file is kept beside it


def folder() -> Path | None:
    """Where logs are; None where none are wanted."""
    named = os.environ.get(VARIABLE, FOLDER)
    return Path(named).expanduser() if named else None


class LogFile:
    """Appends lines. A disk that refuses costs the log, not the tunnel."""

    def __init__(self, name: str, *, limit_bytes: int = LIMIT_BYTES) -> None:
        where = folder()
        self._path = None if where is None else where / f"{name}{SUFFIX}"
        self._limit = limit_bytes
        self._fd = -1
        self._size = 0

    def write(self, line: str) -> None:
        """One line."""
        if self._path is None:
            return
        try:
            if self._fd < 0:
                self._open(self._path)
            self._size += os.write(self._fd, f"{line}\n".encode(errors="replace"))
            if self._size >= self._limit:
                self.close()
                self._path.replace(f"{self._path}{OLDER}")
        except OSError:
            self.close()
            self._path = None

    def close(self) -> None:
        """May be called more than once; the next line opens the file again."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _open(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._fd).st_size
