# SPDX-License-Identifier: Apache-2.0
"""What is measured in processes of its own ends with what asked for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from children import HERE

from pqc_mav_common.waiting import wait_until

PROGRAM = f"""
import signal, sys, time
from pathlib import Path
sys.path.insert(0, {str(HERE)!r})
from pair import in_processes
def task(number):
    name = Path(__file__).with_name(str(number))
    name.write_text("begun")
    try:
        time.sleep(60.0)
    finally:
        name.write_text("unwound")
def interrupted(*_):
    raise KeyboardInterrupt
if __name__ == "__main__":
    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    list(in_processes(task, range(5), 2))
"""


@pytest.mark.parametrize(("tell", "number"), [(os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM)])
def test_what_runs_is_unwound_and_nothing_more_is_begun(
    tmp_path: Path, tell: Callable[[int, int], None], number: signal.Signals
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    process = subprocess.Popen([sys.executable, str(program)], start_new_session=True)
    try:
        assert wait_until(lambda: all((tmp_path / name).exists() for name in "01"), 60.0)
        tell(process.pid, number)
        assert process.wait(20.0) != 0
        assert {each.name: each.read_text() for each in tmp_path.glob("?")} == dict.fromkeys("01", "unwound")
    finally:
        process.kill()
        process.wait()
