# SPDX-License-Identifier: Apache-2.0
"""A child ends with its parent, even when that is killed, and even when it died before the child could ask."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pqc_mav_common.child import die_with

DEADLINE_S = 30.0
PARENT = """
import os, subprocess, sys, time
from pqc_mav_common.child import die_with
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], preexec_fn=die_with(os.getpid()))
print(child.pid, flush=True)
time.sleep(600)
"""


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_child_dies_with_a_parent_that_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert not is_gone(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait(DEADLINE_S)
    parent.stdout.close()
    deadline = time.monotonic() + DEADLINE_S
    while not is_gone(pid):
        assert time.monotonic() < deadline, "the child outlived its parent"
        time.sleep(0.02)


def test_a_child_whose_parent_is_gone_already_never_starts() -> None:
    nobody = os.getpid() + 1  # not the parent of anything started here
    ended = subprocess.run([sys.executable, "-c", ""], preexec_fn=die_with(nobody), timeout=DEADLINE_S, check=False)
    assert ended.returncode == 1
