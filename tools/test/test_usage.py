# SPDX-License-Identifier: Apache-2.0
"""Programs that are given too little, or no file, say how they are used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    "words",
    [
        "deb_test.py",
        "image_test.py",
        "image_test.py pair amd64 -- --root=x",
        "lock_hashes.py",
        "lock_hashes.py NOSUCH",
        "machine_test.py",
        "model_variants.py",
    ],
)
def test_usage(words: str) -> None:
    program, *arguments = words.split()
    command = [sys.executable, str(TOOLS / program), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2 and ended.stderr.startswith("usage: "), ended.stderr
