# SPDX-License-Identifier: Apache-2.0
"""What two commands write at the same time is both in the book."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from pqc_mav_cli.fleet.book import Book
from pqc_mav_cli.fleet.identity import Operator, write_secret


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_secret(tmp_path / "fleet" / "operator.pem", Operator.make().pem())
    return tmp_path


def test_what_another_command_wrote_meanwhile_stays(root: Path) -> None:
    one, other = Book(root), Book(root)
    for book, name in ((one, "drone.d5"), (other, "drone.d6")):
        with book.alone():
            book.changed({}, {name: {"settings": None}})
    entries = Book(root).entries
    assert entries["drone.d5"]["revision"] < entries["drone.d6"]["revision"]


def test_only_one_command_writes_at_a_time(root: Path) -> None:
    folder = os.open(root / "fleet", os.O_RDONLY | os.O_DIRECTORY)
    try:
        with Book(root).alone(), pytest.raises(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(folder)
