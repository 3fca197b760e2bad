# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pqc_mav_common.process_figures import (
    cpu_seconds,
    descriptors_of,
    memory_kib,
    pss_among_kib,
    pss_kib,
    threads_of,
)

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
    assert (memory_kib(NOBODY), threads_of(NOBODY), pss_kib(NOBODY)) == (0, 0, 0)


def test_shared_pages_are_divided_among_those_who_share_them() -> None:
    script = "import sys; print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
            assert 0 < pss_kib(child.pid) <= memory_kib(child.pid)
            try:
                (alone,) = pss_among_kib([child.pid])
            except OSError as error:
                pytest.skip(f"page frames cannot be read here: {error}")
            together = pss_among_kib([child.pid, os.getpid()])
            # Alone it has everything it maps; beside another Python it shares the interpreter and libc.
            assert pss_kib(child.pid) - 64 <= alone <= memory_kib(child.pid) + 64
            assert together[0] < alone - 500
        finally:
            child.kill()
