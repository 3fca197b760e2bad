# SPDX-License-Identifier: Apache-2.0
"""Commands that start others of their kind leave no keys behind when Ctrl-C ends them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import air
import pytest
from children import HERE

from pqc_mav_common.waiting import wait_until

NO_ROOT = air.need_root() or ("" if shutil.which("pqcmav-tunneld") else "needs pqcmav-tunneld: run 'make setup' first")


@pytest.mark.skipif(bool(NO_ROOT), reason=f"the laboratory {NO_ROOT}")
@pytest.mark.parametrize(
    "words",
    [
        ("stations", "--runs", "1", "--events", "killed", "--jobs", "2", "--output", ""),
        ("dataset", "--profiles", "25,100", "--splits", "train", "--jobs", "2", "--folder"),
    ],
    ids=lambda words: str(words[0]),
)
def test_no_key_is_left(words: tuple[str, ...], tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    command = [sys.executable, str(HERE / "run"), *words]
    process = subprocess.Popen(
        [*command, str(tmp_path)] if words[-1] == "--folder" else command,
        env={**os.environ, "TMPDIR": str(made)},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a runner in the background ignores it
    )
    try:
        assert wait_until(lambda: len(list(made.rglob("*.key"))) > 2, 60.0)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60.0) != 0
        assert not [each for each in made.rglob("*") if each.is_file()]
    finally:
        process.kill()
        process.wait()
