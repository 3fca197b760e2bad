# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pqc_mav_common.siblings import WITH_GUARD
from pqc_mav_common.testing_onlooker import run_twice

COMMAND = [sys.executable, "-m", "pqc_mav_detect.main"]


def test_it_runs_and_leaves_the_graph(tmp_path: Path) -> None:
    given = ["-p", "watch_kernel:=false", "-p", "watched_interfaces:=[wlan0]"]
    first, again = run_twice(COMMAND, "/d7", ["pqc_detect"], given, tmp_path)
    assert first == again and "wlan0" in first


def test_the_guard_keeps_its_name_beside_a_detector_that_was_given_one(tmp_path: Path) -> None:
    given = ["-r", "__node:=pqc_detect", "-p", "watch_kernel:=false"]
    first, _ = run_twice([*COMMAND, WITH_GUARD], "/d8", ["pqc_detect", "pqc_guard"], given, tmp_path)
    assert "/d8/pqc_guard" in first


def test_a_detector_whose_package_is_missing_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "onnxruntime.py").write_text("raise ImportError('none')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        [*COMMAND, "--ros-args", "-p", "detector:=tst"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert ended.returncode == 2 and "needs the Python package onnxruntime: pip install" in ended.stderr


def test_a_wrong_parameter_is_one_line() -> None:
    ended = subprocess.run(
        [*COMMAND, "--ros-args", "-p", "detector:=oracle"], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 2 and "Parameter 'detector' of pqc_detect is 'oracle'" in ended.stderr
