# SPDX-License-Identifier: Apache-2.0
"""Files whose names somebody else chose, in an archive or a manifest: they are below their folder, or refused."""

import os
import stat
from pathlib import Path

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_BYTES = 1 << 28


def below(folder: Path, name: str) -> Path:
    """The path of that name below the folder. Raises ValueError for one that leads, or might lead, elsewhere."""
    parts = name.split("/")
    if name.startswith("/") or "\\" in name or "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{name[:200]!r} is not the name of a file below {folder}")
    return folder.joinpath(*parts)


def read(folder: Path, name: str, most_bytes: int = MOST_BYTES) -> bytes:
    """The content of a plain file of that name; no link on the way to it is followed.

    Raises ValueError for a name as of `below`, for what is no plain file and for one that is too large; and OSError.
    """
    below(folder, name)
    *between, last = name.split("/")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in between:
            deeper = os.open(part, _FLAGS | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = deeper
        with os.fdopen(os.open(last, _FLAGS | os.O_NONBLOCK, dir_fd=at), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ValueError(f"{folder / name} is no plain file")
            if status.st_size > most_bytes:
                raise ValueError(f"{folder / name} has {status.st_size:,} bytes, more than such a file needs")
            return file.read(most_bytes)
    finally:
        os.close(at)
