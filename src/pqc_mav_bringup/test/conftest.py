# SPDX-License-Identifier: Apache-2.0
"""A ROS domain of their own for the tests of the bringup package, and the interpreter on PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pqc_mav_common.testing import own_domain

__all__ = ["interpreter_on_path", "own_domain"]


@pytest.fixture(autouse=True)
def interpreter_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that `programs.python_process` finds this very interpreter."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
