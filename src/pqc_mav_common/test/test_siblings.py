# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pqc_mav_common.siblings import MARK, MAVROS, Sibling, new_mark, siblings
from pqc_mav_common.testing import until


class Started:
    """Processes that sleep, under a name of our choice."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, mark: str) -> int:
        program = self._folder / name
        if not program.exists():
            shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
        self.processes.append(subprocess.Popen([program, "600"], env={**os.environ, MARK: mark}))
        return self.processes[-1].pid


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    made = Started(tmp_path)
    yield made
    for process in made.processes:
        process.kill()
        process.wait()


def found(mark: str) -> dict[int, tuple[str, bool]]:
    return {each.pid: (each.name, each.ours) for each in siblings(mark)}


def test_one_mark_is_one_system(started: Started) -> None:
    mark, other = new_mark(), new_mark()
    assert mark != other
    ours, theirs = started.start("some_node", mark), started.start("some_node", other)
    until(lambda: found(mark).get(ours) == ("some_node", True), "the sibling")
    assert theirs not in found(mark) and found(mark)[os.getpid()][1]
    assert not {ours, theirs} & set(found(""))


def test_a_long_name_is_told_whole(started: Started) -> None:
    mark, name = new_mark(), "component_container_mt"
    pid = started.start(name, mark)
    until(lambda: found(mark).get(pid) == (name, True), "the container")


def test_a_mavros_counts_whoever_started_it(started: Started) -> None:
    mark = new_mark()
    ours, theirs = started.start(MAVROS, mark), started.start(MAVROS, "")
    until(lambda: found(mark).get(ours) == (MAVROS, True), "our mavros")
    until(lambda: found(mark).get(theirs) == (MAVROS, False), "the other mavros")


def test_what_has_ended_is_left_out(started: Started, tmp_path: Path) -> None:
    (tmp_path / "123456").mkdir()
    assert list(siblings("x", proc=tmp_path)) == []


def test_one_that_is_known_needs_no_mark(started: Started) -> None:
    mark = new_mark()
    closed = started.start("some_node", new_mark())
    until(lambda: Sibling(closed, "some_node", True) in siblings(mark, [closed]), "the known one")
    assert closed not in found(mark)
