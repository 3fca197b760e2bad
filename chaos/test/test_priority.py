# SPDX-License-Identifier: Apache-2.0
"""Who gets which priority."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from priority import prefer, prefer_threads

_TWO_THREADS = """
import ctypes, sys, threading
def named():
    ctypes.CDLL(None).prctl(15, b"pqc-other", 0, 0, 0)
    print(flush=True)
    sys.stdin.read()
threading.Thread(target=named).start()
"""


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", _TWO_THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as each:
        assert each.stdout is not None and each.stdout.readline()
        yield each


def priority_of(task: int) -> int:
    return os.sched_getparam(task).sched_priority if os.sched_getscheduler(task) == os.SCHED_RR else 0


def test_a_process_and_its_threads(child: subprocess.Popen[bytes]) -> None:
    if not prefer(child.pid, 1):
        pytest.skip("this user has no right to real-time priority")
    other = next(int(task.name) for task in Path(f"/proc/{child.pid}/task").iterdir() if int(task.name) != child.pid)
    assert (priority_of(child.pid), priority_of(other)) == (1, 0)
    prefer_threads(child.pid, {"pqc-": 2, "nobody": 3})
    assert (priority_of(child.pid), priority_of(other)) == (1, 2)


def test_without_the_right_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    assert not prefer(os.getpid(), 1)
    prefer_threads(os.getpid(), {"": 1})  # as far as it goes
