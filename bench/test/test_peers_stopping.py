# SPDX-License-Identifier: Apache-2.0
"""A signal that comes where Python drops exceptions still ends the program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parent.parent
PROGRAM = """
import os, signal, sys, time
sys.path.insert(0, sys.argv[1])
from peers import stopping
if sys.argv[2] == "patient":
    stopping.listen()
class Finalised:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000): pass  # the handler runs here
Finalised()
time.sleep(1)
print("went on")
"""


@pytest.mark.parametrize(("how", "ends"), [("patient", True), ("default", False)])
def test_a_signal_inside_a_finaliser(how: str, ends: bool) -> None:
    """The second case shows that the first one needs it."""
    command = [sys.executable, "-c", PROGRAM, str(BENCH), how]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ("went on" in found.stdout) is not ends
    assert (found.returncode != 0) is ends
    assert ends == ("Exception ignored" not in found.stderr)


def test_a_program_that_is_being_started_is_started_first() -> None:
    program = """
import os, signal, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
from peers import stopping
stopping.listen()
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGTERM))
started = subprocess.Popen(["true"], preexec_fn=lambda: None)
print("started", flush=True)
time.sleep(5)
print("went on")
"""
    found = subprocess.run(
        [sys.executable, "-c", program, str(BENCH)], capture_output=True, text=True, timeout=60, check=False
    )
    assert found.stdout == "started\n" and "Exception ignored" not in found.stderr and found.returncode != 0
