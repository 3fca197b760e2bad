# SPDX-License-Identifier: Apache-2.0
"""Files that are whole or not there at all."""

import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

_NEW_FILE_MODE = 0o666  # less the umask, as for any file a program makes


def atomic_write(
    path: Path,
    content: str | bytes,
    *,
    durable: bool = True,
    mode: int | None = None,
    owner: os.stat_result | None = None,
    folder: int | None = None,
    replace: bool = True,
) -> None:
    """Replace a file in one step: neither a reader nor a crash ever sees half of it. Text is written as UTF-8.

    A file that exists keeps its permissions, and under root its owner, unless `mode` gives others, with `owner`. With
    `durable` the content is on the disk before the name is. `folder` is a descriptor to which `path` is relative.
    Raises OSError, without `replace` also if there is a file; that is then untouched and nothing is left beside it.
    """
    data = content.encode() if isinstance(content, str) else content
    work = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    new_mode = _NEW_FILE_MODE if mode is None else mode
    descriptor = os.open(work, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, new_mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is None:
                with contextlib.suppress(FileNotFoundError):
                    owner = os.stat(path, dir_fd=folder)
                    mode = stat.S_IMODE(owner.st_mode)
            if owner is not None:
                with contextlib.suppress(PermissionError):  # only root gives files away
                    os.fchown(descriptor, owner.st_uid, owner.st_gid)
            if mode is not None:
                os.fchmod(descriptor, mode)
            file.write(data)
            file.flush()
            if durable:
                os.fsync(descriptor)
        if not replace:
            os.link(work, path, src_dir_fd=folder, dst_dir_fd=folder)
            os.unlink(work, dir_fd=folder)
        else:
            os.replace(work, path, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(work, dir_fd=folder)
        raise


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else who asks for it is here: what one reads in this folder and writes back loses nobody's change.

    Not twice by one thread. Raises OSError.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
