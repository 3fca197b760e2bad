# SPDX-License-Identifier: Apache-2.0
"""The process: starts, ends by a signal, refuses with one line and exit code 2."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pqc_mav_common.testing_onlooker import run_twice

COMMAND = [sys.executable, "-m", "pqc_mav_policy.main", "--ros-args", "-r", "__ns:=/m"]
DEADLINE_S = 60.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("-p", "stale_s:=0.1"), "Parameter 'stale_s'"),
        (("-p", "strategi:=expert"), "Did you mean 'strategy'?"),
        (("-p", "pinned_suite:=ML-9"), "ML-9"),
        (("--params-file", "/nowhere.yaml"), "Cannot read the configuration file /nowhere.yaml"),
    ],
)
def test_refusals(arguments: tuple[str, ...], sentence: str) -> None:
    ended = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert ended.returncode == 2, ended.stderr
    (line,) = ended.stderr.splitlines()
    assert line.startswith("pqc_policy: error: ")
    assert sentence in line


def test_it_can_be_dumped_relaunched_from_that_and_leaves_the_graph(tmp_path: Path) -> None:
    first, again = run_twice(COMMAND[:3], "/m", ["pqc_policy"], ["-p", "suites:=[]", "-p", "mode:=hold"], tmp_path)
    assert first == again
    shown = yaml.safe_load(first)["/m/pqc_policy"]["ros__parameters"]
    assert (shown["suites"], shown["mode"], shown["minimum_level"]) == ([], "hold", 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_runs_until_a_signal(number: signal.Signals, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen([*COMMAND, "-p", "strategy:=hybrid"], stdout=file, stderr=subprocess.STDOUT)
        try:
            for _ in range(int(DEADLINE_S * 10)):
                if "strategy hybrid, mode auto" in log.read_text(encoding="utf-8"):
                    break
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(0.1)
            else:
                pytest.fail(log.read_text(encoding="utf-8"))
            process.send_signal(number)
            assert process.wait(DEADLINE_S) == 0
        finally:
            process.kill()
            process.wait()
