# SPDX-License-Identifier: Apache-2.0
"""Processes under a real launch service: started again as their policy says, and gone when launch is."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

pytest.importorskip("launch_ros.actions", reason="launch is not installed; test_supervisor.py tests the same decisions")

from endings import wait_until_gone

from pqc_mav_common.testing import Running

# One process of the suite's kind under the service that `ros2 launch` runs; `code` is what it does.
PROGRAM = """
import sys
from launch import LaunchDescription, LaunchService
sys.path.insert(0, {here!r})
from programs import python_process
from pqc_mav_bringup.respawn import Respawn
from pqc_mav_bringup.launch_actions import process_actions
policy = Respawn(delay_s=0.05, quick=1, factor=2.0, max_delay_s=0.4, never_first=frozenset(), most_deaths=5)
service = LaunchService()
service.include_launch_description(LaunchDescription(process_actions([python_process("it", {code!r}, policy)])))
sys.exit(service.run())
"""


def script(code: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM.format(here=str(Path(__file__).parent), code=code)]


@pytest.fixture(autouse=True)
def own_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))


def launched(code: str, *, first_life: bool = False) -> subprocess.CompletedProcess[str]:
    """`first_life`: with the policy of a real process, for which an early end with 3 is one for good."""
    line = script(code)
    if first_life:
        line[-1] = line[-1].replace("never_first=frozenset(), ", "")
    return subprocess.run(line, capture_output=True, text=True, timeout=60)


def test_a_crash_is_answered_with_growing_delays_and_an_end() -> None:
    ended = launched("import os; print('begun', flush=True); os.kill(os.getpid(), 11)")
    said = ended.stdout + ended.stderr
    assert said.count("[INFO] [launch.user]: it ended with signal SIGSEGV") == 5
    for delay in ("0.05", "0.1", "0.2", "0.4"):
        assert f"starting it again in {delay} s" in said
    assert "for the 5th time in a row; the rest goes on without it" in said
    assert said.count("begun\n") == 5


def test_a_clean_end_is_not_started_again() -> None:
    ended = launched("print('begun', flush=True)")
    assert ended.returncode == 0 and (ended.stdout + ended.stderr).count("begun\n") == 1


def test_a_refused_configuration_ends_it_all() -> None:
    ended = launched("print('begun', flush=True); raise SystemExit(2)", first_life=True)
    said = ended.stdout + ended.stderr
    assert ended.returncode != 0 and said.count("begun\n") == 1
    assert "it refused its configuration (exit code 2)" in said


def test_a_port_in_use_is_not_called_a_refused_configuration() -> None:
    ended = launched("print('begun', flush=True); raise SystemExit(3)", first_life=True)
    said = ended.stdout + ended.stderr
    assert ended.returncode != 0 and "it could not start (exit code 3)" in said and "refused" not in said


# At SIGINT launch expects the terminal to have told the children, and asks them itself after 5 s.
@pytest.mark.parametrize(("number", "limit_s"), [(signal.SIGKILL, 4.0), (signal.SIGTERM, 4.0), (signal.SIGINT, 9.0)])
def test_nothing_is_left_of_a_launch_that_ended(number: signal.Signals, limit_s: float) -> None:
    running = Running(script("import time; print('begun', flush=True); time.sleep(600)"))
    try:
        running.wait_for("begun")
        (child,) = psutil.Process(running.process.pid).children()
        began = time.monotonic()
        running.process.send_signal(number)
        wait_until_gone(child.pid)
        assert time.monotonic() - began < limit_s
    finally:
        running.kill()


SLOW_TO_END = """
import signal, time
asked = []
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: asked.append(number))
print("begun", flush=True)
while signal.SIGTERM not in asked:
    time.sleep(0.05)
time.sleep(7)
print("complete", flush=True)
"""


def test_what_takes_long_to_end_is_given_the_time() -> None:
    """As a recorder that brings its file to a slow card: launch itself would kill it 5 s after SIGTERM."""
    running = Running(script(SLOW_TO_END))
    try:
        running.wait_for("begun")
        running.process.send_signal(signal.SIGINT)
        running.wait_for("[it-1] complete")  # launch quotes the program when it kills it
    finally:
        running.kill()
