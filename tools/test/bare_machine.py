# SPDX-License-Identifier: Apache-2.0
"""What tests of the set-up say about the machine they pretend to run on."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def without(tmp_path: Path, *tools: str) -> None:
    """Take tools off the test's PATH."""
    for tool in tools:
        (tmp_path / "bin" / tool).unlink()
