# SPDX-License-Identifier: Apache-2.0
"""The steppable wall clock: it moves for one process, and only the wall clock."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clocks import DAY_S, ClockError, SteppableClock, build_shim

READER = """
import sys, time
for line in sys.stdin:
    print(time.time(), time.monotonic(), flush=True)
"""


def test_a_step_moves_the_wall_clock_alone(tmp_path: Path) -> None:
    try:
        shim = build_shim(tmp_path)
    except ClockError as error:
        pytest.skip(str(error))
    clock = SteppableClock(shim, tmp_path / "offset")
    with subprocess.Popen(
        [sys.executable, "-c", READER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **clock.environment},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def read() -> tuple[float, float]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            wall, monotonic = map(float, process.stdout.readline().split())
            return wall - time.time(), monotonic - time.monotonic()

        for step, total in ((0, 0), (DAY_S, DAY_S), (-2 * DAY_S, -DAY_S)):
            clock.step(step)
            wall, monotonic = read()
            assert wall == pytest.approx(total, abs=30)
            assert monotonic == pytest.approx(0, abs=30)
        process.stdin.close()
    assert process.returncode == 0


def test_without_a_compiler_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClockError, match="apt-get install g"):
        build_shim(tmp_path)
