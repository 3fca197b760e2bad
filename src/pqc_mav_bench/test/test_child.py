# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
import textwrap
import time

import psutil

from pqc_mav_bench import child

IGNORES = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
)


def test_a_child_that_reads_its_input_ends_with_it():
    process = child.start([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    child.end(process)
    assert process.returncode == 0


def test_a_child_that_will_not_end_is_killed(monkeypatch):
    monkeypatch.setattr(child, "END_S", 0.2)
    process = child.start([sys.executable, "-c", IGNORES], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    child.end(process)
    assert process.returncode == -9


def test_a_child_dies_with_its_parent():
    program = """
        import sys, time
        from pqc_mav_bench import child
        print(child.start([sys.executable, "-c", "import time; time.sleep(60)"]).pid, flush=True)
        time.sleep(60)
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE)
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.02)
