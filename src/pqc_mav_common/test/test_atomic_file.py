# SPDX-License-Identifier: Apache-2.0
"""A file is replaced whole or left as it was, with its permissions, and nothing lies beside it afterwards."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from pqc_mav_common.atomic_file import atomic_write


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("content", ["one\r\ntwo \u00e4\n", b"\x00\xff\n", ""])
@pytest.mark.parametrize("durable", [True, False])
def test_what_was_written_is_what_is_there(tmp_path: Path, content: str | bytes, durable: bool) -> None:
    path = tmp_path / "a.txt"
    for _ in range(2):  # new, then replaced
        atomic_write(path, content, durable=durable)
        assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_those_of_the_old_file_or_what_the_umask_allows(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("x")
    old.chmod(0o600)
    before = os.umask(0o027)
    try:
        for path in (old, new):
            atomic_write(path, "y")
    finally:
        os.umask(before)
    assert (mode(old), mode(new)) == (0o600, 0o640)


def test_a_mode_counts_from_the_start_whatever_was_there(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("x")
    path.chmod(0o644)
    folder = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        atomic_write(Path("key"), "y", mode=0o600, folder=folder)
        with pytest.raises(FileExistsError):
            atomic_write(Path("key"), "z", mode=0o600, folder=folder, replace=False)
    finally:
        os.close(folder)
    assert (mode(path), path.read_text()) == (0o600, "y") and list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        atomic_write(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_folder_in_the_way_is_an_error_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "a"
    (path / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        atomic_write(path, "x")
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError):
        atomic_write(tmp_path / "no" / "folder", "x")


def test_readers_see_one_content_or_the_other(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    contents = [letter * 100_000 for letter in "ab"]
    atomic_write(path, contents[0])
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for content in contents:
                atomic_write(path, content, durable=False)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(200):
            assert path.read_text() in contents
    finally:
        stop.set()
        writer.join()
