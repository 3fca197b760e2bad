# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
import time

from pqc_mav_detect import watch


def test_it_runs_until_its_input_ends() -> None:
    command = [sys.executable, "-m", "pqc_mav_detect.watch", "xgboost"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(10) == 0


def test_another_detector_is_one_line(capsys) -> None:  # type: ignore[no-untyped-def]
    assert watch.main(["oracle"]) == 2
    assert capsys.readouterr().out.startswith("usage:")
