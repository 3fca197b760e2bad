# SPDX-License-Identifier: Apache-2.0
"""A child ends with its parent, even when that is killed, and even when it died before the child could ask; what a
program says is waited for.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pqc_mav_common import child
from pqc_mav_common.child import Program, ProgramError, die_with

DEADLINE_S = 30.0
PARENT = """
import sys, time
from pqc_mav_common.child import start
print(start([sys.executable, "-c", "import time; time.sleep(600)"]).pid, flush=True)
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


def test_a_child_that_reads_its_input_ends_with_it() -> None:
    process = child.start([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    child.end(process)
    assert process.returncode == 0


def test_a_child_that_will_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    ignores = "import signal, time; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"
    monkeypatch.setattr(child, "END_S", 0.2)
    process = child.start([sys.executable, "-c", ignores], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    child.end(process)
    assert process.returncode == -9


def test_what_happens_in_the_child_first() -> None:
    process = child.start(["/bin/sh", "-c", "pwd"], inside=lambda: os.chdir("/"), stdout=subprocess.PIPE)
    assert process.communicate(timeout=DEADLINE_S)[0] == b"/\n"


def test_a_program_is_waited_for_by_what_it_says() -> None:
    program = Program("gcs", ["/bin/sh", "-c", "echo port 7; echo aside >&2; exec sleep 600"])
    try:
        assert program.wait_for(r"port (\d)")[1] == "7"
        program.wait_for("aside")
        assert program.said("port", after=2) is None
        assert (program.lines, len(program.times)) == (["port 7", "aside"], 2)
        assert program.end() == -signal.SIGTERM
    finally:
        program.kill()


def test_a_program_that_ends_or_is_late_is_named_with_its_last_words() -> None:
    with pytest.raises(ProgramError, match=r"^The gcs ended with 3; it said: one; two$"):
        Program("gcs", ["/bin/sh", "-c", "echo one; echo two; exit 3"]).wait_for("three")
    program = Program("drone", ["/bin/sh", "-c", "echo one; exec sleep 600"], limit_s=1.0)
    try:
        program.wait_for("one")
        with pytest.raises(ProgramError, match=r"^The drone did not say 'two' within 1 s, but: one$"):
            program.wait_for("two")
    finally:
        program.kill()


def test_one_output_alone() -> None:
    program = Program("end", ["/bin/sh", "-c", "echo out; echo err >&2"], stderr=subprocess.PIPE)
    assert (program.wait(), program.lines) == (0, ["err"])
