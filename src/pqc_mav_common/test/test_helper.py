# SPDX-License-Identifier: Apache-2.0
"""Helpers answer, refuse, die alone and die with their parent."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pqc_mav_common.helper import Helper, HelperError
from pqc_mav_common.waiting import wait_until

ECHO = """
import os, sys, time
from pqc_mav_common.helper import serve
def obey(command):
    if command["do"] == "sleep":
        time.sleep(command["s"])
    if command["do"] == "fail":
        raise ValueError("because")
    if command["do"] == "exit":
        os._exit(3)
    return command.get("say")
serve(obey, in_threads=frozenset({"sleep"}))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "echo.py"
    path.write_text(ECHO)
    return path


def test_answers_come_to_their_questions(script: Path) -> None:
    child = Helper([sys.executable, str(script)])
    slow = child.begin("sleep", s=0.3, say="slow")
    assert child.ask("say", say="fast") == "fast"
    assert slow(5.0) == "slow"
    with pytest.raises(HelperError, match="ValueError: because") as refused:
        child.ask("fail")
    assert refused.value.refused
    with pytest.raises(HelperError, match="not answered within"):
        child.ask("sleep", timeout_s=0.05, s=1)
    child.close()
    assert child.process.returncode is not None


def test_a_child_that_ends_or_is_killed_says_so(script: Path) -> None:
    child = Helper([sys.executable, str(script)])
    with pytest.raises(HelperError, match="ended before it answered"):
        child.ask("exit")
    with pytest.raises(HelperError, match="has ended"):
        child.ask("say", say=1)
    child.kill()
    child.close()


def test_children_die_with_a_parent_that_is_killed(script: Path) -> None:
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
                import sys, time
                from pqc_mav_common.helper import Helper
                child = Helper([sys.executable, {str(script)!r}])
                child.ask("say", say=1)
                child.begin("sleep", s=60)
                print(child.pid, flush=True)
                time.sleep(60)
            """),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()

    def gone() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True

    assert wait_until(gone, 10)
