# SPDX-License-Identifier: Apache-2.0
"""What two commands write at the same time is both in the book, and the book says whose word still counts."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from pqc_mav_cli.fleet.book import Book
from pqc_mav_cli.fleet.entry import receipt_key
from pqc_mav_cli.fleet.identity import Operator, write_secret
from pqc_mav_cli.fleet.view import Key, View, opened, sealed


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


def test_a_station_that_was_replaced_tells_nothing_any_more(root: Path) -> None:
    book = Book(root)

    def view_by(name: str) -> bytes:
        """As the station has it that was told this entry last."""
        revision = book.entries[name]["revision"]
        return sealed(Key(name, revision, receipt_key(book.operator, "north", name, revision)), "north", View(7, []))

    with book.alone():
        book.changed({}, {"drone.d5": {"settings": {}}})
        book.changed({}, {"drone.d7": {"settings": None}})
    stolen = view_by("drone.d7")
    assert opened(book.operator, "north", stolen, book.least())
    with book.alone():  # as 'fleet station north' tells the new one
        book.changed({}, {name: {"settings": each["settings"]} for name, each in book.standing().items()})
    assert opened(book.operator, "north", stolen, book.least()) is None
    assert opened(book.operator, "north", view_by("drone.d5"), book.least())
