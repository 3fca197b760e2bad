# SPDX-License-Identifier: Apache-2.0
import os
import time
from pathlib import Path

from pqc_mav_common.process_figures import cpu_seconds, descriptors_of, memory_kib, threads_of

NOBODY = 2**22 + 1  # beyond the largest process id Linux gives


def test_figures_of_this_process() -> None:
    pid = os.getpid()
    assert memory_kib(pid) > memory_kib(pid, "RssAnon") > 1000
    assert threads_of(pid) >= 1
    before = descriptors_of(pid)
    with Path(os.devnull).open():
        assert descriptors_of(pid) == before + 1


def test_time_grows_with_work() -> None:
    before, deadline = cpu_seconds(os.getpid()), time.monotonic() + 30
    while cpu_seconds(os.getpid()) == before:
        assert time.monotonic() < deadline


def test_a_process_that_is_gone_has_no_memory_and_no_threads() -> None:
    assert (memory_kib(NOBODY), threads_of(NOBODY)) == (0, 0)
