# SPDX-License-Identifier: Apache-2.0
"""What tests of the set-up say about the machine they pretend to run on."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Fake = Callable[[str, str], None]
# Of the keys of gpg: the first is part of the second.
OWNER, OTHER = "owner@example.org", "another-owner@example.org"


def without(tmp_path: Path, *tools: str) -> None:
    """Take tools off the test's PATH."""
    for tool in tools:
        (tmp_path / "bin" / tool).unlink()


def assert_one_error(result: subprocess.CompletedProcess[str], *words: str) -> None:
    """It stopped with exactly one line of error, which has all the words."""
    assert result.returncode != 0
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith("error: ")
    for word in words:
        assert word in result.stderr


def public_keys(keyring: Path) -> list[str]:
    """Whose keys a file has."""
    shown = subprocess.run(["gpg", "--show-keys", "--with-colons", keyring], check=True, capture_output=True, text=True)
    return [line.split(":")[9] for line in shown.stdout.splitlines() if line.startswith("uid:")]
