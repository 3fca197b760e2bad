# SPDX-License-Identifier: Apache-2.0
"""tools/cross_pair.py with two programs of this machine: what it sees, and that it can fail."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAIR = Path(__file__).resolve().parents[1] / "cross_pair.py"
PROGRAM = shutil.which("pqcmav-tunneld")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="pqcmav-tunneld is not on the path: run 'make setup' first")


def run(gcs: str, drone: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PAIR), "--gcs", gcs, "--drone", drone]
    return subprocess.run(command, capture_output=True, text=True, timeout=170)


def test_datagrams_both_ways_and_a_rekey() -> None:
    result = run(str(PROGRAM), f"env --unset=NOTHING {PROGRAM}")
    assert result.returncode == 0, result.stderr
    assert re.match(r"\S+ gcs, \S+ drone: handshake under .* in .* ms, rekey under .* ms, ", result.stdout)
    match = re.search(r"(\d+) datagrams each way, (\d+) of them after the first rekey, none lost", result.stdout)
    assert match
    assert int(match[1]) > int(match[2]) == 100


def test_an_end_that_cannot_run_fails_the_pair_in_one_sentence() -> None:
    result = run(str(PROGRAM), str(shutil.which("false")))
    assert result.returncode == 1
    assert re.fullmatch(r"error: The \S+ drone ended with 1; it said: nothing\n", result.stderr)


def test_a_script_is_no_program(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nexit 0\n")
    result = run(str(script), str(PROGRAM))
    assert result.returncode == 1
    assert "is not an ELF program" in result.stderr
