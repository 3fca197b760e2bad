# SPDX-License-Identifier: Apache-2.0
"""A parameter that does not exist, or has a bad value, ends the benchmark's nodes in one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pqc_mav_common.errors import ExitCode

CASES = [
    ("agent", "proxi:=/gcs/p", "bench_agent has no parameter 'proxi'. Did you mean 'proxy'?"),
    ("controller", "shutdown_agnet:=true", "Did you mean 'shutdown_agent'?"),
    ("controller", "shutdown_agent:=1", "Parameter 'shutdown_agent' of bench_controller is 1; it must be true"),
    ("controller", "drone_id:=7", "Parameter 'drone_id' of bench_controller is 7; it must be a string."),
]


@pytest.mark.parametrize(("process", "given", "words"), CASES)
def test_a_wrong_parameter_is_refused(process: str, given: str, words: str) -> None:
    run = f"from pqc_mav_bench import process_main; process_main.run_{process}()"
    ended = subprocess.run(
        [sys.executable, "-c", run, "--ros-args", "-p", given],
        capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert ended.returncode == ExitCode.CONFIG
    (line,) = [line for line in ended.stderr.splitlines() if "error:" in line]
    assert words in line
    assert "Traceback" not in ended.stderr
