# SPDX-License-Identifier: Apache-2.0
"""Files that are whole or not there at all."""

import contextlib
import os
import secrets
import stat
from pathlib import Path

_NEW_FILE_MODE = 0o666  # less the umask, as for any file a program makes


def atomic_write(path: Path, content: str | bytes, *, durable: bool = True) -> None:
    """Replace a file in one step: neither a reader nor a crash ever sees half of it. Text is written as UTF-8.

    A file that exists keeps its permissions, and under root its owner. With `durable` the content is on the disk
    before the name is. Raises OSError; the old file is then untouched and nothing is left beside it.
    """
    data = content.encode() if isinstance(content, str) else content
    work = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    descriptor = os.open(work, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _NEW_FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            with contextlib.suppress(FileNotFoundError):
                old = path.stat()
                with contextlib.suppress(PermissionError):  # only root gives files away
                    os.fchown(descriptor, old.st_uid, old.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
            file.write(data)
            file.flush()
            if durable:
                os.fsync(descriptor)
        work.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            work.unlink()
        raise
