# SPDX-License-Identifier: Apache-2.0
"""The folder of a drone's keys: looked at before anything is fetched, and filled in one step.

The keys are written beside it and take its name when they are whole. Whoever interrupts that finds the old state or the
new one.
"""

import ctypes
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.joining.share import ShareError, check_files, read_folder, write_folder

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # linux/fs.h


def check(folder: Path, replace: bool) -> None:
    """Raises CliError where keys cannot or must not go."""
    folder = folder.absolute()  # the parent of "." is itself, as that of a mount point
    if folder.exists() and not folder.is_dir():
        raise CliError(f"{folder} is a file; give another folder with --keys.", ExitCode.USAGE)
    if folder.is_symlink():
        raise CliError(f"{folder} is a link; give the folder itself with --keys.", ExitCode.USAGE)
    if folder.is_mount():
        raise CliError(f"{folder} is a mount point; give a folder in it with --keys.", ExitCode.USAGE)
    if not _empty(folder):
        if not replace:
            raise CliError(
                f"{folder} holds keys already, and they stay: add --replace to have the new ones in their place, or "
                "--keys with another folder.",
                ExitCode.USAGE,
            )
        _check_replaceable(folder)
    parent = _existing_parent(folder)
    if not os.access(parent, os.W_OK | os.X_OK):
        raise CliError(
            f"{parent} cannot be written by this user; run this with sudo, or give another folder with --keys."
        )


def put(files: Mapping[str, str], folder: Path, drone_id: str, replace: bool) -> None:
    """Writes a checked share; an existing folder's owner stays. Raises CliError; then all is as before."""
    check(folder, replace)
    owner = folder.stat() if folder.exists() else None
    made: Path | None = None
    try:
        # `parents=True` would leave these to the umask, and all could write them.
        for parent in reversed([each for each in folder.parents if not each.exists()]):
            parent.mkdir(mode=0o700, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.join-", dir=folder.parent))
        write_folder(files, made, drone_id)
        if owner is not None and os.geteuid() == 0:
            for path in (*made.rglob("*"), made):  # the folder last: until then nobody can swap what is in it
                os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
        if _empty(folder):
            made.rename(folder)  # takes an empty folder's place
        else:
            _exchange(made, folder)
        _sync(folder.parent)
    except OSError as error:
        raise CliError(f"The keys cannot be put in {folder}: {error.strerror}.") from None
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _empty(folder: Path) -> bool:
    try:
        return not any(folder.iterdir())
    except FileNotFoundError:
        return True
    except OSError as error:
        raise CliError(
            f"{folder} cannot be looked into: {error.strerror}; run this with sudo, or give another folder with --keys."
        ) from None


def _check_replaceable(folder: Path) -> None:
    """Only a drone's keys are ever replaced: what else is there would be lost."""
    try:
        check_files(read_folder(folder))
    except (ShareError, OSError, ValueError):
        raise CliError(
            f"{folder} holds other files than a drone's keys, so it is not replaced; give another folder with --keys.",
            ExitCode.USAGE,
        ) from None


def _existing_parent(folder: Path) -> Path:
    parent = folder.parent
    while not parent.exists():
        parent = parent.parent
    return parent


def _exchange(new: Path, old: Path) -> None:
    """Both names at once, where the file system can (renameat2); else one after the other."""
    libc = ctypes.CDLL(None, use_errno=True)
    with suppress(AttributeError):
        names = (os.fsencode(new), os.fsencode(old))
        if libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
            return
    aside = Path(tempfile.mkdtemp(prefix=f".{old.name}.old-", dir=old.parent))
    old.rename(aside)
    try:
        new.rename(old)
    except OSError:
        aside.rename(old)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
